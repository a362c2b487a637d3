import type { FeatureName } from '../../rest-compat/feature-doors.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import type { SeenArrival } from '../../subgraphs/receipt/claim/doubt.ts';
import type { Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import type { PaymentIndex } from '../../subgraphs/receipt/receipt/own-transfer.ts';
import type { SubgraphAddition } from '../../subgraphs/subgraph.ts';
import type { SubgraphName } from '../config/read-config.ts';
import type { PeriodicTask, Tasks } from '../jobs/task.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { BaseChain } from '../rails/base/chain.ts';

/** Dependencies of a feature's jobs. */
export interface FeatureParts {
  readonly database: Database;
  readonly chain: Pick<BaseChain, 'block' | 'transfersFrom' | 'transfersInto'>;
  readonly issuer: Issuer;
  readonly profile: 'development' | 'production';
  readonly now_ms: () => number;
}

/** Features that each feature requires. The code rules in test/tidy also read this table, without loading any feature. */
export const featureNeeds: Readonly<Record<FeatureName, readonly FeatureName[]>> = {
  envelopes: [],
  totals: [],
  // Reports look up receipts by the payments that the totals feature stores.
  reconciliation: ['totals'],
  score: [],
};

/**
 * @throws Error if a feature is listed without one that it requires. Otherwise the fault would appear only when the feature is
 * used.
 */
export function requireNeeded(features: readonly Feature[]): void {
  const listed = features.map(({ name }) => name);
  for (const name of listed) {
    const missing = featureNeeds[name].find(needed => !listed.includes(needed));
    if (missing !== undefined) throw new Error(`the feature ${name} needs the feature ${missing}, which is not listed`);
  }
}

/** A part of the service that the specification does not require. The core runs without it and imports none of its files. */
export interface Feature {
  /** Name of the feature, also in rest-compat/feature-doors.ts if it has endpoints. */
  readonly name: FeatureName;
  /** Tables and fields that it adds, by subgraph. */
  readonly adds: Readonly<Partial<Record<SubgraphName, SubgraphAddition>>>;
  /** Tasks of jobs that the feature adds. */
  tasks?(parts: FeatureParts): Tasks;
  /** Jobs that are repeated, each by one process at a time. */
  periodic?(parts: FeatureParts): readonly PeriodicTask[];
  /** Adds metrics that are read at each scrape. */
  watch?(metrics: Pick<Metrics, 'watch'>, database: Database): void;
  /**
   * Called in the database transaction that marks a row as collected, when a transfer is seen that a facilitator reported earlier.
   */
  onArrival?(tx: Tx, seen: SeenArrival): void;
  /** Finds receipts by the transfers that paid for them. */
  indexPayments?(database: Pick<Database, 'query'>): PaymentIndex;
}
