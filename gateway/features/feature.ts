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

/** Features that another one cannot do without. Read by the rules of the house, too, which load no row. */
export const featureNeeds: Readonly<Record<FeatureName, readonly FeatureName[]>> = {
  envelopes: [],
  totals: [],
  // It looks up receipts by the payments that totals keep.
  reconciliation: ['totals'],
  score: [],
};

/** @throws Error where a feature is listed without one that it needs, which would fail only once it is used */
export function requireNeeded(features: readonly Feature[]): void {
  const listed = features.map(({ name }) => name);
  for (const name of listed) {
    const missing = featureNeeds[name].find(needed => !listed.includes(needed));
    if (missing !== undefined) throw new Error(`the feature ${name} needs the feature ${missing}, which is not listed`);
  }
}

/** A part of the service that the specification does not ask for. The core runs without it, and imports none of its files. */
export interface Feature {
  /** Its endpoints stand under this name in rest-compat/feature-doors.ts. */
  readonly name: FeatureName;
  /** Tables and fields, by subgraph. */
  readonly adds: Readonly<Partial<Record<SubgraphName, SubgraphAddition>>>;
  /** What the worker of jobs does for it. */
  tasks?(parts: FeatureParts): Tasks;
  /** Jobs that are done over and over by one process of the fleet. */
  periodic?(parts: FeatureParts): readonly PeriodicTask[];
  /** What is looked up at each scrape. */
  watch?(metrics: Pick<Metrics, 'watch'>, database: Database): void;
  /** Writes in the transaction that turns a row to collected, where money was seen that a facilitator had vouched for. */
  arrived?(tx: Tx, seen: SeenArrival): void;
  /** Finds receipts by the transfers that paid for them. */
  indexPayments?(database: Pick<Database, 'query'>): PaymentIndex;
}
