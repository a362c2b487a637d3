import { envelopesFeature } from './envelopes.ts';
import type { Feature } from './feature.ts';
import { reconciliationFeature } from './reconciliation.ts';
import { scoreFeature } from './score.ts';
import { totalsFeature } from './totals.ts';

/**
 * The features beyond the specification. Only this list imports them: a feature that it does not contain is not part of the
 * service.
 */
export const everyFeature: readonly Feature[] = [envelopesFeature, totalsFeature, reconciliationFeature, scoreFeature];
