import type { Door } from '../door.ts';
import { bookDoors } from './book.ts';
import { discoveryDoors } from './discovery.ts';
import { inferenceDoors } from './inference.ts';
import { mediaDoors } from './media.ts';
import { possessionDoors } from './possession.ts';
import { receiptDoors } from './receipts.ts';
import { refusalDoors } from './refusals.ts';
import { registrationDoors } from './registration.ts';
import { settlementDoors } from './settlements.ts';
import { taskDoors } from './tasks.ts';

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
