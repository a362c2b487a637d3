import { boardEventDoors } from './board/event-doors.ts';
import { flagDoors } from './board/flag-doors.ts';
import { inboundDoors } from './board/inbound-doors.ts';
import { jobDoors } from './board/job-doors.ts';
import { postDoors } from './board/post-doors.ts';
import { reactionDoors } from './board/reaction-doors.ts';
import { boardSearchDoors } from './board/search-doors.ts';
import { approvalDoors } from './book/approval-doors.ts';
import { assignDoors } from './book/assign-doors.ts';
import { disputeDoors } from './book/dispute-doors.ts';
import { bookDoors } from './book/doors.ts';
import { escrowDoors } from './book/escrow-doors.ts';
import { exportDoors } from './book/export-doors.ts';
import { inflowDoors } from './book/inflow-doors.ts';
import { ingestDoors } from './book/ingest-doors.ts';
import { lineageDoors } from './book/lineage-doors.ts';
import { recordDoors } from './book/record-doors.ts';
import { simulationDoors } from './book/simulation.ts';
import { webhookDoors } from './book/webhook-doors.ts';
import { discoveryDoors } from './discovery/doors.ts';
import { listingDoors } from './discovery/listing-doors.ts';
import type { Door } from './door.ts';
import { type FeatureName, featureDoors, featureNames } from './feature-doors.ts';
import { inferenceDoors, mediaDoors } from './inference/doors.ts';
import { messageDoors } from './inference/message-doors.ts';
import { taskDoors } from './inference/task-doors.ts';
import { logDoors } from './log/doors.ts';
import { receiptDoors, refusalDoors, settlementDoors } from './receipt/doors.ts';
import { walletDoors } from './receipt/wallet-doors.ts';
import { routerDoors } from './router/doors.ts';
import { delegationDoors } from './session/delegation-doors.ts';
import { possessionDoors, registrationDoors } from './session/doors.ts';

/** Endpoints of the specification, in the order of OpenAPI. */
const coreDoors: readonly (readonly Door[])[] = [
  inferenceDoors,
  messageDoors,
  mediaDoors,
  taskDoors,
  registrationDoors,
  bookDoors,
  lineageDoors,
  simulationDoors,
  exportDoors,
  inflowDoors,
  ingestDoors,
  assignDoors,
  approvalDoors,
  disputeDoors,
  escrowDoors,
  webhookDoors,
  recordDoors,
  possessionDoors,
  delegationDoors,
  receiptDoors,
  walletDoors,
  settlementDoors,
  refusalDoors,
  logDoors,
  routerDoors,
  jobDoors,
  postDoors,
  boardEventDoors,
  boardSearchDoors,
  flagDoors,
  reactionDoors,
  inboundDoors,
  discoveryDoors,
  listingDoors,
];

/** The endpoints of a service that has these features. */
export function doorsWith(features: readonly FeatureName[]): readonly Door[] {
  const added = features.map(name => featureDoors[name]);
  return coreDoors.flatMap(list => {
    const further = added.filter(({ after }) => after === list).flatMap(({ doors }) => doors);
    const own = list.map(door => further.find(({ name }) => name === door.name) ?? door);
    return [...own, ...further.filter(door => !own.includes(door))];
  });
}

/** The table of endpoints. Routing, descriptions and prices are read from here only. */
export const everyDoor: readonly Door[] = doorsWith(featureNames);
