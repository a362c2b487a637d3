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

/* The answer of GET /health. */

export interface HealthParts {
  readonly database: Database;
  /** The networks on which payments are accepted. */
  readonly rails: readonly (Pick<Rail, 'network' | 'reachable' | 'settling'> & {
    readonly settler: Pick<Rail['settler'], 'reachable'>;
  })[];
  /** Whether recent writes to the database succeeded. The heartbeat writes every two seconds, and calls write now and then. */
  readonly writable: () => boolean;
  readonly log: LogStanding;
  /** State of anchoring. Null if this process never anchors. */
  readonly anchoring: { readonly trouble: string | null; readonly shown: JsonObject } | null;
  /** Names of the remote subgraphs that do not answer. */
  readonly subgraphs_away: () => readonly string[];
  /** State of the other parts that this process knows without a network request. */
  readonly readiness: Pick<Readiness, 'clock_right' | 'missingLocalLanes'>;
  /** Reads whether any process of the fleet does the periodic work. */
  readonly jobs: { done(): Promise<boolean> };
  /** The witnesses that cosign the log's checkpoints. */
  readonly witnesses: readonly VerifierKey[];
  readonly profile: 'development' | 'production';
  readonly stand_ins: readonly string[];
}

/** Time limit of each check, because `/health` must not wait for a service that does not answer. */
const LOOK_MS_MAX = 3_000;

/** Checks all parts. The status is `degraded` while a part that a paid call needs is unavailable, and `away` names the parts. */
export async function health(parts: HealthParts): Promise<JsonObject> {
  const { database, rails, profile, stand_ins, witnesses, log } = parts;
  const facilitator = rails.map(({ settler }) => settler).find(({ reachable }) => reachable);
  const [head, closed, done, standings, settles, ...networks] = await Promise.all([
    lookInTime(logStands(database), LOOK_MS_MAX),
    lookInTime(damagedBooks(database), LOOK_MS_MAX),
    // While the log is halted there is no periodic work, so it is not missing.
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
    // If the database is unavailable, LISTEN is too, so it is not named separately.
    ...parts.readiness.missingLocalLanes().filter(lane => there || lane !== 'live'),
    // Only the damaged books are closed; the others continue.
    ...(closed ? ['books'] : []),
    ...(done || head === null ? [] : ['jobs']),
    // No paid call needs anchoring, so `/readyz` does not name it.
    ...(parts.anchoring?.trouble ? ['anchor'] : []),
    // Paid calls do not wait for a witness, but a witness that reports a fork is shown.
    ...(standings?.some(({ trouble }) => trouble === 'refused' || trouble === 'ahead') ? ['witness'] : []),
  ];
  return {
    status: away.length === 0 ? 'ok' : 'degraded',
    away,
    profile,
    stand_ins: [...stand_ins],
    settling: rails.map(({ network, settling }) => ({ network, trouble: settling.trouble })),
    log: head,
    // The halt contains both the known and the found head, so an operator need not search for them.
    ...(log.halt && { log_halt: haltFacts(log.halt) }),
    ...(parts.anchoring?.shown ?? { last_anchored_root: null, last_anchored_tx: null, anchor: null }),
    witnesses: witnesses.map(({ name }, at) => witnessFacts(name, standings?.[at])),
    free_tier: false,
  };
}

/** State of one witness, with the size up to which it has cosigned. Null members are unknown now. */
function witnessFacts(witness: string, standing: WitnessStanding | undefined): JsonObject {
  const { cosigned_size = null, cosigned_at = null, trouble = null } = standing ?? {};
  return { witness, tree_size: cosigned_size, at: cosigned_at, trouble };
}

/** Facts of a halt, without the machine that noticed it, which is only in the operator's log. */
function haltFacts({ known, found, books, at }: LogHalt): JsonObject {
  return { known: { ...known }, found: { ...found }, ...(books && { books: present(brokenNames(books)) }), at };
}
