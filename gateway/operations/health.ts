import { type JsonObject, present } from '../../schema/canonical-json.ts';
import { damagedBooks } from '../../subgraphs/book/audit/audit-stored.ts';
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

/* GET /health: `degraded` while something that a paid call needs is away, and what that is. */

export interface HealthParts {
  readonly database: Database;
  /** The networks that payments are taken on. */
  readonly rails: readonly (Pick<Rail, 'network' | 'reachable' | 'settling'> & {
    readonly settler: Pick<Rail['settler'], 'reachable'>;
  })[];
  /** Whether the database takes what is written: the heartbeat writes every two seconds, calls now and then. */
  readonly writable: () => boolean;
  readonly log: LogStanding;
  /** Null where nothing is anchored. */
  readonly anchoring: { readonly trouble: string | null; readonly shown: JsonObject } | null;
  /** Subgraphs elsewhere that do not answer. */
  readonly subgraphs_away: () => readonly string[];
  /** What is known of the rest without asking anybody. */
  readonly readiness: Pick<Readiness, 'clock_right' | 'beside'>;
  /** Whether any process of the fleet does the periodic work. */
  readonly jobs: { done(): Promise<boolean> };
  /** Who cosigns the log's checkpoints. */
  readonly witnesses: readonly VerifierKey[];
  readonly profile: 'development' | 'production';
  readonly stand_ins: readonly string[];
}

/** Whoever asks wants to know whether we answer, not to wait for what does not. */
const LOOK_MS_MAX = 3_000;

/** `degraded` while something that a paid call needs is away; what it is stands beside it. */
export async function health(parts: HealthParts): Promise<JsonObject> {
  const { database, rails, profile, stand_ins, witnesses, log } = parts;
  const facilitator = rails.map(({ settler }) => settler).find(({ reachable }) => reachable);
  const [head, closed, done, standings, settles, ...networks] = await Promise.all([
    lookInTime(logStands(database), LOOK_MS_MAX),
    lookInTime(damagedBooks(database), LOOK_MS_MAX),
    // While the log is halted none is to be done.
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
    // Where the database is away nothing is heard either: that needs no name of its own.
    ...parts.readiness.beside().filter(lane => there || lane !== 'live'),
    // Each other book goes on: this one alone is closed.
    ...(closed ? ['books'] : []),
    ...(done || head === null ? [] : ['jobs']),
    // No paid call needs it: it is told here, and nowhere else.
    ...(parts.anchoring?.trouble ? ['anchor'] : []),
    // Who says that the log has forked is not waited for, and not passed over either.
    ...(standings?.some(({ trouble }) => trouble === 'refused' || trouble === 'ahead') ? ['witness'] : []),
  ];
  return {
    status: away.length === 0 ? 'ok' : 'degraded',
    away,
    profile,
    stand_ins: [...stand_ins],
    settling: rails.map(({ network, settling }) => ({ network, trouble: settling.trouble })),
    log: head,
    // Both heads, so that whoever is called by it need not look for them.
    ...(log.halt && { log_halt: haltFacts(log.halt) }),
    ...(parts.anchoring?.shown ?? { last_anchored_root: null, last_anchored_tx: null, anchor: null }),
    witnesses: witnesses.map(({ name }, at) => witnessFacts(name, standings?.[at])),
    free_tier: false,
  };
}

/** Up to which size it has cosigned; null where that cannot be known just now. */
function witnessFacts(witness: string, standing: WitnessStanding | undefined): JsonObject {
  const { cosigned_size = null, cosigned_at = null, trouble = null } = standing ?? {};
  return { witness, tree_size: cosigned_size, at: cosigned_at, trouble };
}

/** Which machine met it is for the operator's log. */
function haltFacts({ known, found, books, at }: LogHalt): JsonObject {
  return { known: { ...known }, found: { ...found }, ...(books && { books: present(brokenNames(books)) }), at };
}
