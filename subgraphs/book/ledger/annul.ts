import { type LaterFacts, type MovableFacts, nothingKnown, type RowBirth } from '../../../schema/book-row.ts';
import type { AgentId, TaskId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { appendRow, type EventRecord, type Heads, headOf, storeBirths, storeBooks } from './append.ts';
import { lockBooksOf, type RowName } from './correct.ts';
import { type MovedOn, moveRow, standingRows, storeMoved } from './move-row.ts';
import { supersede } from './supersede.ts';

/** A row whose payment is not on its chain, and never will be. */
export interface Annulment {
  /** Of the row. */
  readonly task_id: string;
  /** Of its correction, which is a row of its own. */
  readonly correction_id: TaskId;
  /** Why the row has no amount any more, in a word. */
  readonly omission_rule: string;
  /** The same in a sentence. */
  readonly reason: string;
}

/** A correction that was appended. */
export interface Annulled extends RowName {
  readonly corrects_seq: number;
}

/**
 * Part of the ledger: appends to a row a correction that names it, and takes its amount out of all that counts it. The row
 * stays as born, by its hash and by the event that keeps its amount; as an arrival that never came it shows none from then on,
 * so that whoever adds rows up comes to what the book says. A row is corrected once: under the head's lock, whoever comes second
 * finds that it was. Lands on a book that is closed, too: it takes nothing new in.
 */
export async function annul(tx: Tx, items: readonly Annulment[]): Promise<readonly Annulled[]> {
  const annulments = new Map(items.map(item => [item.task_id, item]));
  const { books, rows } = await lockBooksOf(tx, [...annulments.keys()]);
  const standing = await standingRows(tx, await uncorrected(tx, rows));
  const moved: MovedOn[] = [];
  const corrections: Correction[] = [];
  for (const row of standing) {
    const annulment = annulments.get(row.task_id);
    if (!annulment) continue;
    const one = moveRow(headOf(books, row.agent_id), row, born => vanished(born, annulment));
    books.set(row.agent_id, one.head);
    moved.push(one);
    corrections.push(correctionOf(books, row, annulment));
  }
  if (moved.length === 0) return [];
  storeMoved(tx, moved);
  storeBirths(
    tx,
    corrections.map(({ row }) => row),
  );
  for (const { row, corrects_seq } of corrections) {
    const { agent_id, seq } = row;
    supersede(tx, {
      agent_id: agent_id as AgentId,
      seq,
      original_seq: corrects_seq,
      corrects_seq,
      merged_seqs: [],
      said_hash: null,
    });
  }
  const events = corrections.flatMap(({ event }, index): EventRecord[] => {
    const transition = moved[index]?.event;
    return transition ? [transition, event] : [event];
  });
  storeBooks(tx, books, events);
  return corrections.map(({ row: { agent_id, seq, task_id }, corrects_seq }) => {
    return { agent_id: agent_id as AgentId, seq, task_id, corrects_seq };
  });
}

type Correction = Pick<ReturnType<typeof appendRow>, 'row' | 'event'> & { readonly corrects_seq: number };

/** Right behind what it says of the row. */
function correctionOf(books: Heads, { agent_id, seq }: RowName, annulment: Annulment): Correction {
  const before = headOf(books, agent_id);
  const { head, row, event } = appendRow(before, correctionBirth(annulment), before.now_ms);
  books.set(agent_id, head);
  return { row, event, corrects_seq: seq };
}

function correctionBirth({ task_id, correction_id, reason }: Annulment): RowBirth {
  const facts = { corrects: task_id, reason };
  return { ...nothingKnown, task_id: correction_id, evidence: 'UNVERIFIED', collected: false, facts };
}

/** What it rests on was recorded, and stays; that it was seen to arrive does not. */
function vanished(born: MovableFacts, { omission_rule }: Annulment): MovableFacts & LaterFacts {
  const nothing = { collected: false, amount: null, arrival_status: 'unverified' } as const;
  return { ...born, ...nothing, ingress_receipt: null, omission_rule };
}

/** Those that no correction names yet; their heads are locked. */
async function uncorrected(tx: Tx, rows: readonly RowName[]): Promise<readonly RowName[]> {
  if (rows.length === 0) return [];
  const found = await tx.query<{ agent_id: number; corrects_seq: number }>({
    name: 'corrected rows',
    text: `select agent_id, corrects_seq from book_correction
      where (agent_id, corrects_seq) in (select * from unnest($1::int[], $2::int[]))`,
    values: [rows.map(row => row.agent_id), rows.map(row => row.seq)],
  });
  const corrected = new Set(found.rows.map(({ agent_id, corrects_seq }) => `${agent_id} ${corrects_seq}`));
  return rows.filter(({ agent_id, seq }) => !corrected.has(`${agent_id} ${seq}`));
}
