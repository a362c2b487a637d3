import type { GraphQLResolveInfo } from 'graphql';
import type { AgentId } from '../../schema/ids.ts';
import { type BookContext } from '../../subgraphs/book/context.ts';
import { BookResolver, connectionOf } from '../../subgraphs/book/page/book.resolver.ts';
import type { RowFilter } from '../../subgraphs/book/page/row-scope.ts';
import { sequenceOf } from '../../subgraphs/book/page/sequence.ts';
import { totalsBy } from '../../subgraphs/book/page/totals.ts';
import { systemClock } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { type Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { newestHead } from '../../subgraphs/receipt/log/signed-heads.ts';
import { inclusionOf } from '../../subgraphs/receipt/log/stored-proofs.ts';
import { filledTask, rareRows } from './fill.ts';
import type { Job } from './servers/ledger.ts';

const PAGE_ROWS = 50;
const CALLERS = 4;
/** Step between the leaves that are read, which spreads them over the whole log. */
const STRIDE = 7_919;

/** Reads pages of a book by the resolver of the service. */
export function pages(database: Database, issuer: Issuer, { book, count }: Job): Promise<void> {
  const books = new BookResolver();
  const context = contextOf(database, issuer, book.agent_id);
  // No text field is selected, so the resolver does not render the rows.
  const info = { fieldNodes: [] } as unknown as GraphQLResolveInfo;
  return repeat(count, async () => {
    const page = await books.book({ agentId: book.agent_id, limit: PAGE_ROWS }, context, info);
    const entries = await books.entries(page, context);
    if (entries.length !== PAGE_ROWS) throw new Error('the page is not full');
  });
}

const MINUTE_MS = 60_000;

/** Reads filtered pages of the same book by the same resolver. Few rows match, and they are far from the newest. */
export function filteredPages(database: Database, issuer: Issuer, { book, count, rows = 0 }: Job): Promise<void> {
  const books = new BookResolver();
  const context = contextOf(database, issuer, book.agent_id);
  const info = { fieldNodes: [] } as unknown as GraphQLResolveInfo;
  // `fill` made one row for each minute.
  const from = new Date(Date.now() - (rows / 2) * MINUTE_MS);
  const filters: readonly RowFilter[] = [
    { evidence: rareRows.evidence },
    { intentId: rareRows.intent },
    { evidence: rareRows.bulk_evidence, intentId: rareRows.bulk_intent },
    { from, to: new Date(from.getTime() + (PAGE_ROWS + 10) * MINUTE_MS) },
  ];
  return repeat(count, async turn => {
    const filter = filters[turn % filters.length];
    const asked = { agentId: book.agent_id, limit: PAGE_ROWS, filter: filter ?? {} };
    const page = await books.book(asked, context, info);
    const entries = await books.entries(page, context);
    if (entries.length !== PAGE_ROWS) throw new Error(`the page behind ${JSON.stringify(filter)} is not full`);
  });
}

/** Reads pages as connections, spread over the whole book, by the function that the resolver calls. */
export function connections(database: Database, _issuer: Issuer, { book, count, rows = 0 }: Job): Promise<void> {
  return repeat(count, async turn => {
    const after = Buffer.from(`seq:${rows - ((turn * STRIDE) % (rows - PAGE_ROWS))}`).toString('base64url');
    const { edges } = await connectionOf(database, book.agent_id, { first: PAGE_ROWS, after });
    if (edges.length !== PAGE_ROWS) throw new Error('the page is not full');
  });
}

/** Reads totals of the whole book by day. */
export function totals(database: Database, _issuer: Issuer, { book, count }: Job): Promise<void> {
  return repeat(count, async () => {
    const days = await totalsBy(database, book.agent_id, ['DAY'], {});
    if (days.length === 0) throw new Error('there is no day');
  });
}

/** Checks that the book has no gap. */
export function sequences(database: Database, _issuer: Issuer, { book, count }: Job): Promise<void> {
  return repeat(count, async () => {
    const { gapless } = await sequenceOf(database, book.agent_id, null);
    if (!gapless) throw new Error('a row is missing');
  });
}

/** Looks up receipts and computes their inclusion proofs. The filled-in receipts have no signature, so none is returned. */
export function proofs(database: Database, _issuer: Issuer, { count, rows = 0 }: Job): Promise<void> {
  return repeat(count, async turn => {
    const leaf = (turn * STRIDE) % rows;
    const taskId = filledTask(leaf);
    const [receipt] = await database.query<{ payload: string }>({
      name: 'filled receipt',
      text: 'select payload from receipt where task_id = $1',
      values: [taskId],
    });
    const head = await newestHead(database);
    if (!receipt || !head) throw new Error(`there is no leaf ${leaf}`);
    await inclusionOf(database, { taskId, leafIndex: leaf, payload: receipt.payload }, head.treeSize, head.rootHash);
  });
}

/** The part of a context that the resolver reads. */
function contextOf(database: Database, issuer: Issuer, agent_id: AgentId): BookContext {
  const possession = { kind: 'proven', agent_id, session_hash: '', by: 'session' } as const;
  const principal = { possession, api_key: { kind: 'absent' }, address: '' } as const;
  return { database, issuer, clock: systemClock, principal } as unknown as BookContext;
}

async function repeat(times: number, act: (turn: number) => Promise<unknown>): Promise<void> {
  let turn = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (turn < times) await act(turn++);
    }),
  );
}
