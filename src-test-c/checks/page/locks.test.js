// SPDX-License-Identifier: Apache-2.0
'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');

const page = require('./page.js');

const TIMES = [
    { lock: 'a.Cart', waiting: 'w1', holding: 'h1', wall: 5 },
    { lock: 'a.Stock', waiting: 'w1', holding: 'h2', wall: 7 },
    { lock: 'a.Cart', waiting: 'w2', holding: 'h1', wall: 4 },
];

test('each class of locks has its lines, longest first', () => {
    const [cart, stock] = page.locksOf([{ locks: TIMES }]);
    assert.equal(cart.lock, 'a.Cart');
    assert.deepEqual(cart.times, [9]);
    assert.deepEqual([...cart.lines.values()].map((line) => line.waiting), ['w1', 'w2']);
    assert.equal(stock.lock, 'a.Stock');
    assert.deepEqual(stock.times, [7]);
});

test('a comparison of reports has both times', () => {
    const locks = page.locksOf([{ locks: TIMES }, { locks: [{ ...TIMES[1], wall: 1 }] }]);
    assert.deepEqual(locks.map((lock) => [lock.lock, ...lock.times]), [['a.Stock', 7, 1], ['a.Cart', 9, 0]]);
});

test('without blocked threads there are no locks', () => {
    assert.deepEqual(page.locksOf([{}, { locks: [] }]), []);
});
