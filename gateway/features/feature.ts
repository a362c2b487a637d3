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

/** What the jobs of features are run with. */
export interface FeatureParts {
  readonly database: Database;
  readonly chain: Pick<BaseChain, 'block' | 'transfersFrom' | 'transfersInto'>;
  readonly issuer: Issuer;
  readonly profile: 'development' | 'production';
  readonly now_ms: () => number;
}

/** Features that another feature requires. The house rules in test/tidy read it too, without loading any feature. */
export const featureNeeds: Readonly<Record<FeatureName, readonly FeatureName[]>> = {
  envelopes: [],
  totals: [],
  // Reports look up receipts by the payments that the totals feature stores.
  reconciliation: ['totals'],
  score: [],
};

/** @throws Error if a feature is listed without one that it requires, which would otherwise fail only when it is used */
export function requireNeeded(features: readonly Feature[]): void {
  const listed = features.map(({ name }) => name);
  for (const name of listed) {
    const missing = featureNeeds[name].find(needed => !listed.includes(needed));
    if (missing !== undefined) throw new Error(`the feature ${name} needs the feature ${missing}, which is not listed`);
  }
}

/** A part of the service that the specification does not ask for. The core runs without it and imports none of its files. */
export interface Feature {
  /** Also its name in rest-compat/feature-doors.ts, if it has endpoints. */
  readonly name: FeatureName;
  /** Tables and fields, by subgraph. */
  readonly adds: Readonly<Partial<Record<SubgraphName, SubgraphAddition>>>;
  /** Tasks of jobs that the feature adds. */
  tasks?(parts: FeatureParts): Tasks;
  /** Jobs that one process at a time runs again and again. */
  periodic?(parts: FeatureParts): readonly PeriodicTask[];
  /** Adds metrics that are read at each scrape. */
  watch?(metrics: Pick<Metrics, 'watch'>, database: Database): void;
  /** Runs in the transaction that marks a row as collected, when money is seen that a facilitator reported earlier. */
  onArrival?(tx: Tx, seen: SeenArrival): void;
  /** Finds receipts by the transfers that paid for them. */
  indexPayments?(database: Pick<Database, 'query'>): PaymentIndex;
}
