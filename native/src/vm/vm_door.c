/* SPDX-License-Identifier: Apache-2.0 */
#include "vm/vm_door.h"

/* With the mutex held: waits for one that is bringing up or taking down. */
static void wait_until_settled(struct smp_vm_door *door)
{
    while (door->phase == SMP_DOOR_BUSY)
        (void)pthread_cond_wait(&door->changed, &door->mutex);
}

bool smp_vm_door_enter(struct smp_vm_door *door)
{
    bool first = false;

    (void)pthread_mutex_lock(&door->mutex);
    wait_until_settled(door);
    if (door->phase == SMP_DOOR_CLOSED) {
        door->phase = SMP_DOOR_BUSY;
        first = true;
    } else {
        door->users++;
    }
    (void)pthread_mutex_unlock(&door->mutex);
    return first;
}

bool smp_vm_door_leave(struct smp_vm_door *door)
{
    bool last = false;

    (void)pthread_mutex_lock(&door->mutex);
    wait_until_settled(door);
    if (door->phase == SMP_DOOR_OPEN && --door->users == 0) {
        door->phase = SMP_DOOR_BUSY;
        last = true;
    }
    (void)pthread_mutex_unlock(&door->mutex);
    return last;
}

void smp_vm_door_settle(struct smp_vm_door *door, bool up)
{
    (void)pthread_mutex_lock(&door->mutex);
    door->phase = up ? SMP_DOOR_OPEN : SMP_DOOR_CLOSED;
    door->users = up ? 1 : 0;
    (void)pthread_cond_broadcast(&door->changed);
    (void)pthread_mutex_unlock(&door->mutex);
}
