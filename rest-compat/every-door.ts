import { assignDoors } from './book/assign-doors.ts';
import { bookDoors } from './book/doors.ts';
import { exportDoors } from './book/export-doors.ts';
import { inflowDoors } from './book/inflow-doors.ts';
import { lineageDoors } from './book/lineage-doors.ts';
import { recordDoors } from './book/record-doors.ts';
import { simulationDoors } from './book/simulation.ts';
import { discoveryDoors } from './discovery/doors.ts';
import type { Door } from './door.ts';
import { inferenceDoors, mediaDoors } from './inference/doors.ts';
import { taskDoors } from './inference/task-doors.ts';
import { receiptDoors, refusalDoors, settlementDoors } from './receipt/doors.ts';
import { possessionDoors, registrationDoors } from './session/doors.ts';

/** The door table: what is served, described and priced is read from here and from nowhere else. */
export const everyDoor: readonly Door[] = [
  ...inferenceDoors,
  ...mediaDoors,
  ...taskDoors,
  ...registrationDoors,
  ...bookDoors,
  ...lineageDoors,
  ...simulationDoors,
  ...exportDoors,
  ...inflowDoors,
  ...assignDoors,
  ...recordDoors,
  ...possessionDoors,
  ...receiptDoors,
  ...settlementDoors,
  ...refusalDoors,
  ...discoveryDoors,
];
