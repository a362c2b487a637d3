import { openStore } from '../../../gateway/parts.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { type Collection, collect } from '../../../subgraphs/book/ledger/collect.ts';
import { systemClock, systemRandom } from '../../../subgraphs/clock.ts';
import type { Database, Tx } from '../../../subgraphs/database.ts';
import { GroupCommit } from '../../../subgraphs/group-commit.ts';
import { openIssuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { lockLogHead } from '../../../subgraphs/receipt/log/head.ts';
import { KnownLog } from '../../../subgraphs/receipt/log/known-log.ts';
import { nextAgentId, openAgent } from '../../../subgraphs/session/registration/open-agent.ts';
import { openVault } from '../../../subgraphs/vault.ts';
import { serveTasks, startOptions } from '../child/answer.ts';
import { collection } from '../collection.ts';
import { fill } from '../fill.ts';
import { connections, filteredPages, pages, proofs, sequences, totals } from '../reads.ts';

export interface LedgerGiven {
  readonly issuer_key: string;
}

/** A book in one of the databases, and the session that opens it. */
export interface OpenedBook {
  readonly database_url: string;
  readonly agent_id: AgentId;
  readonly session: string;
}

/** Work of one round: appends the rows that were prepared, or makes that many reads of a book that was filled with `rows` rows. */
export interface Job {
  readonly book: OpenedBook;
  readonly count: number;
  readonly rows?: number;
  /** `together`: calls that arrive at the same time share a transaction, as in the service. `alone`: each row has its own. */
  readonly way?: 'together' | 'alone';
}

const CALLERS = 64;
const GROUP_MAX = 64;

const { issuer_key } = startOptions<LedgerGiven>();
const issuer = openIssuer([issuer_key], { base_url: 'http://127.0.0.1:4000', now_ms: systemClock.now_ms });
const vault = openVault('a secret of the bench alone');
const opened = new Map<string, Promise<Ledger>>();
let prepared: Collection[] = [];
let numbered = 0;

type Ledger = Awaited<ReturnType<typeof openLedger>>;

async function openLedger(database_url: string) {
  const database: Database = await openStore(database_url);
  const known = new KnownLog();
  const append = async (tx: Tx, items: readonly Collection[]) => {
    const { tree_head } = await collect(tx, issuer, await lockLogHead(tx, known), items);
    return items.map(() => tree_head);
  };
  const queue = new GroupCommit(database, append, GROUP_MAX);
  const ways: Record<NonNullable<Job['way']>, (item: Collection) => Promise<unknown>> = {
    together: async item => known.addCommit(await queue.submit(item)),
    alone: async item => {
      const [head] = await database.transaction(tx => append(tx, [item]));
      if (head) known.addCommit(head);
    },
  };
  return { database, ways };
}

function ledgerOf(database_url: string): Promise<Ledger> {
  const ledger = opened.get(database_url) ?? openLedger(database_url);
  opened.set(database_url, ledger);
  return ledger;
}

/** Registers an agent, whose book is empty. */
async function openBook(database_url: string): Promise<OpenedBook> {
  const { database } = await ledgerOf(database_url);
  const agent_id = await nextAgentId(query => database.query(query));
  const wallet = `0x${agent_id.toString(16).padStart(40, '0')}` as const;
  const application = { wallet, task_id: `task_of_agent_${agent_id}`, request_hash: '0'.repeat(64) };
  const { session } = await database.transaction(tx =>
    openAgent(tx, agent_id, application, { random: systemRandom, vault }),
  );
  return { database_url, agent_id, session };
}

/** Makes and signs receipts before the measurement, because the service does that before it locks the head. */
function prepare({ book, count }: Job): void {
  prepared = Array.from({ length: count }, () => collection(issuer, book.agent_id, numbered++));
}

async function append({ book, way = 'together' }: Job): Promise<void> {
  const { ways } = await ledgerOf(book.database_url);
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (let item = prepared.pop(); item; item = prepared.pop()) await ways[way](item);
    }),
  );
}

const fillBook = async ({ book, rows = 0 }: Job) =>
  fill((await ledgerOf(book.database_url)).database, book.agent_id, rows);
const page = async (job: Job) => pages((await ledgerOf(job.book.database_url)).database, issuer, job);
const filtered = async (job: Job) => filteredPages((await ledgerOf(job.book.database_url)).database, issuer, job);
const proof = async (job: Job) => proofs((await ledgerOf(job.book.database_url)).database, issuer, job);
const connection = async (job: Job) => connections((await ledgerOf(job.book.database_url)).database, issuer, job);
const total = async (job: Job) => totals((await ledgerOf(job.book.database_url)).database, issuer, job);
const gaps = async (job: Job) => sequences((await ledgerOf(job.book.database_url)).database, issuer, job);

serveTasks(
  {},
  { openBook, prepare, append, fill: fillBook, page, filtered, connection, total, gaps, proof },
  async () => {
    for (const ledger of opened.values()) await (await ledger).database.close();
  },
);
