/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_door.h - the first who enters brings something up, the last who leaves takes it down, without
 * a lock held meanwhile; the others wait.
 *
 * Owns     nothing.
 * Threads  any.
 * Errors   none.
 * Cost     one mutex.
 */
#ifndef SMP_VM_VM_DOOR_H
#define SMP_VM_VM_DOOR_H

#include <pthread.h>
#include <stdbool.h>

enum smp_vm_door_phase { SMP_DOOR_CLOSED, SMP_DOOR_BUSY, SMP_DOOR_OPEN };

struct smp_vm_door {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    enum smp_vm_door_phase phase; /* guarded by mutex, as users */
    unsigned users;
};

#define SMP_VM_DOOR_INIT                                                        \
    {                                                                           \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
    }

/* True to the first: it must bring up, then settle. False: it is up. */
bool smp_vm_door_enter(struct smp_vm_door *door);
/* True to the last: it must take down, then settle(false). */
bool smp_vm_door_leave(struct smp_vm_door *door);
/* up: of the first who entered; false: it could not be brought up, and nobody has entered. */
void smp_vm_door_settle(struct smp_vm_door *door, bool up);

#endif
