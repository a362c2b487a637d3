import { envelopesFeature } from './envelopes.ts';
import type { Feature } from './feature.ts';
import { reconciliationFeature } from './reconciliation.ts';
import { scoreFeature } from './score.ts';
import { totalsFeature } from './totals.ts';

/** Every feature beyond the specification. This list alone imports them: without its row a feature is not in the service. */
export const everyFeature: readonly Feature[] = [envelopesFeature, totalsFeature, reconciliationFeature, scoreFeature];
