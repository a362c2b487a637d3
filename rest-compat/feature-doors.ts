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
  /** The list that they follow in OpenAPI and in the table of endpoints. One of the same name there is replaced. */
  readonly after: readonly Door[];
}

/** Endpoints of the features that the specification does not ask for, by feature: what a feature does is in gateway/features. */
export const featureDoors = {
  envelopes: { doors: [envelopedReceiptDoor], after: receiptDoors },
  totals: { doors: totalsDoors, after: logDoors },
  reconciliation: { doors: reconciliationDoors, after: webhookDoors },
  score: { doors: scoreDoors, after: inboundDoors },
} satisfies Readonly<Record<string, FeatureDoors>>;

export type FeatureName = keyof typeof featureDoors;
export const featureNames = Object.keys(featureDoors) as readonly FeatureName[];
