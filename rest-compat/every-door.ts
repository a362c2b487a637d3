import { bookDoors } from './book/doors.ts';
import { discoveryDoors } from './discovery/doors.ts';
import type { Door } from './door.ts';
import { inferenceDoors } from './inference/doors.ts';
import { mediaDoors } from './inference/media-doors.ts';
import { taskDoors } from './inference/task-doors.ts';
import { receiptDoors } from './receipt/doors.ts';
import { refusalDoors } from './receipt/refusal-doors.ts';
import { settlementDoors } from './receipt/settlement-doors.ts';
import { registrationDoors } from './session/doors.ts';
import { possessionDoors } from './session/possession-doors.ts';

/** The door table: what is served, described and priced is read from here and from nowhere else. */
export const everyDoor: readonly Door[] = [
  ...inferenceDoors,
  ...mediaDoors,
  ...taskDoors,
  ...registrationDoors,
  ...bookDoors,
  ...possessionDoors,
  ...receiptDoors,
  ...settlementDoors,
  ...refusalDoors,
  ...discoveryDoors,
];
