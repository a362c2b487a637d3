import { inboundDoors } from './board/inbound-doors.ts';
import { scoreDoors } from './board/score-doors.ts';
import { reconciliationDoors } from './book/reconciliation-doors.ts';
import { webhookDoors } from './book/webhook-doors.ts';
import type { Door } from './door.ts';
import { logDoors } from './log/doors.ts';
import { totalsDoors } from './log/totals-doors.ts';
import { receiptDoors } from './receipt/doors.ts';
import { envelopedReceiptDoor } from './receipt/envelope-doors.ts';

/** Endpoints of one feature. */
interface FeatureDoors {
  readonly doors: readonly Door[];
  /** The group that they follow in OpenAPI and in the table of endpoints. An endpoint of the same name is replaced. */
  readonly after: readonly Door[];
}

/** Endpoints that the specification does not have, by feature; see gateway/features. */
export const featureDoors = {
  envelopes: { doors: [envelopedReceiptDoor], after: receiptDoors },
  totals: { doors: totalsDoors, after: logDoors },
  reconciliation: { doors: reconciliationDoors, after: webhookDoors },
  score: { doors: scoreDoors, after: inboundDoors },
} satisfies Readonly<Record<string, FeatureDoors>>;

export type FeatureName = keyof typeof featureDoors;
export const featureNames = Object.keys(featureDoors) as readonly FeatureName[];
