import { type JsonObject, present } from '../../schema/canonical-json.ts';
import { damagedBooks } from '../../subgraphs/book/audit/audit-database.ts';
import type { Database } from '../../subgraphs/database.ts';
import { brokenNames } from '../../subgraphs/receipt/log/broken-books.ts';
import { type WitnessStanding, witnessStandings } from '../../subgraphs/receipt/log/cosignatures.ts';
import { type LogHalt } from '../../subgraphs/receipt/log/halt.ts';
import { logStands } from '../../subgraphs/receipt/log/signed-heads.ts';
import type { VerifierKey } from '../../subgraphs/receipt/verify/verifier-key.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { Rail } from '../rails/rail.ts';
import { lookInTime } from './metrics.ts';
import { type Readiness, subgraphNeed } from './readiness.ts';

/* GET /health: `degraded` while something that a paid call needs is unavailable, with its name. */

export interface HealthParts {
  readonly database: Database;
  /** The networks on which payments are accepted. */
  readonly rails: readonly (Pick<Rail, 'network' | 'reachable' | 'settling'> & {
    readonly settler: Pick<Rail['settler'], 'reachable'>;
  })[];
  /** Whether recent writes to the database succeeded: the heartbeat writes every two seconds, calls now and then. */
  readonly writable: () => boolean;
  readonly log: LogStanding;
  /** Null if nothing is anchored. */
  readonly anchoring: { readonly trouble: string | null; readonly shown: JsonObject } | null;
  /** Remote subgraphs that do not answer. */
  readonly subgraphs_away: () => readonly string[];
  /** What this process knows of the rest without a request. */
  readonly readiness: Pick<Readiness, 'clock_right' | 'missingLocalLanes'>;
  /** Whether any process of the fleet does the periodic work. */
  readonly jobs: { done(): Promise<boolean> };
  /** The witnesses that cosign the log's checkpoints. */
  readonly witnesses: readonly VerifierKey[];
  readonly profile: 'development' | 'production';
  readonly stand_ins: readonly string[];
}

/** A health check must not wait for a service that does not answer. */
const LOOK_MS_MAX = 3_000;

/** `degraded` while something that a paid call needs is unavailable, with its name. */
export async function health(parts: HealthParts): Promise<JsonObject> {
  const { database, rails, profile, stand_ins, witnesses, log } = parts;
  const facilitator = rails.map(({ settler }) => settler).find(({ reachable }) => reachable);
  const [head, closed, done, standings, settles, ...networks] = await Promise.all([
    lookInTime(logStands(database), LOOK_MS_MAX),
    lookInTime(damagedBooks(database), LOOK_MS_MAX),
    // While the log is halted there is no periodic work.
    log.halt ? true : lookInTime(parts.jobs.done(), LOOK_MS_MAX),
    lookInTime(
      witnessStandings(
        database,
        witnesses.map(({ text }) => text),
      ),
      LOOK_MS_MAX,
    ),
    facilitator?.reachable ? lookInTime(facilitator.reachable(), LOOK_MS_MAX) : true,
    ...rails.map(rail => lookInTime(rail.reachable(), LOOK_MS_MAX)),
  ]);
  const there = head !== null && parts.writable();
  const away = [
    ...(there ? [] : ['database']),
    ...rails.flatMap(({ network }, index) => (networks[index] ? [] : [network])),
    ...(settles ? [] : ['facilitator']),
    ...(log.sound ? [] : ['log']),
    ...(parts.readiness.clock_right ? [] : ['clock']),
    ...parts.subgraphs_away().map(subgraphNeed),
    // If the database is unavailable, LISTEN is too, and needs no name of its own.
    ...parts.readiness.missingLocalLanes().filter(lane => there || lane !== 'live'),
    // Only this book is closed; the others continue.
    ...(closed ? ['books'] : []),
    ...(done || head === null ? [] : ['jobs']),
    // No paid call needs it, so `/readyz` does not name it.
    ...(parts.anchoring?.trouble ? ['anchor'] : []),
    // A witness that reports a fork is not waited for, but shown.
    ...(standings?.some(({ trouble }) => trouble === 'refused' || trouble === 'ahead') ? ['witness'] : []),
  ];
  return {
    status: away.length === 0 ? 'ok' : 'degraded',
    away,
    profile,
    stand_ins: [...stand_ins],
    settling: rails.map(({ network, settling }) => ({ network, trouble: settling.trouble })),
    log: head,
    // Both heads, so that an operator need not look for them.
    ...(log.halt && { log_halt: haltFacts(log.halt) }),
    ...(parts.anchoring?.shown ?? { last_anchored_root: null, last_anchored_tx: null, anchor: null }),
    witnesses: witnesses.map(({ name }, at) => witnessFacts(name, standings?.[at])),
    free_tier: false,
  };
}

/** The size up to which it has cosigned; null if that is unknown now. */
function witnessFacts(witness: string, standing: WitnessStanding | undefined): JsonObject {
  const { cosigned_size = null, cosigned_at = null, trouble = null } = standing ?? {};
  return { witness, tree_size: cosigned_size, at: cosigned_at, trouble };
}

/** Which machine met the fault is in the operator's log only. */
function haltFacts({ known, found, books, at }: LogHalt): JsonObject {
  return { known: { ...known }, found: { ...found }, ...(books && { books: present(brokenNames(books)) }), at };
}
