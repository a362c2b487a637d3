import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import type { CredentialHead, EventHead } from './compare.ts';

/*
 * Changes of books within a watched transaction. The writers report them, and they count as known once the transaction is
 * committed.
 */

/** Members of a locked head that are compared with the known head. */
export interface LockedHead {
  readonly position: number;
  readonly event_hash: string;
  readonly damaged: boolean;
}

/** Changes of a transaction so far, and the known books of its process. */
export interface TransactionChanges {
  readonly books: {
    requireSaves(): void;
    requireGoesOn(
      tx: Tx,
      agent_ids: readonly AgentId[],
      of: { readonly found: ReadonlyMap<AgentId, LockedHead>; readonly waits: boolean },
    ): Promise<void>;
  };
  readonly heads: Map<AgentId, EventHead>;
  readonly credentials: CredentialHead[];
  /** Whether the response waits until these heads are saved. */
  readonly waits: boolean;
}

const open_transactions = new WeakMap<Tx, TransactionChanges>();

export function watchTransaction(tx: Tx, left: TransactionChanges): void {
  open_transactions.set(tx, left);
}

/**
 * Requires that locked books continue from the heads that this process knows.
 * @throws as KnownBooks.requireGoesOn
 */
export async function requireBooksGoOn(
  tx: Tx,
  agent_ids: readonly AgentId[],
  found: ReadonlyMap<AgentId, LockedHead>,
): Promise<void> {
  const left = open_transactions.get(tx);
  await left?.books.requireGoesOn(tx, agent_ids, { found, waits: left.waits });
}

/** Reports events. They count as known once the transaction is committed. */
export function leaveBooks(tx: Tx, events: readonly EventHead[]): void {
  const heads = open_transactions.get(tx)?.heads;
  for (const { agent_id, position, hash, at } of heads ? events : []) {
    if ((heads?.get(agent_id)?.position ?? 0) < position) heads?.set(agent_id, { agent_id, position, hash, at });
  }
}

/**
 * Reports an issued session or a revocation, which is in no event of a book.
 * @throws DatabaseAway if the response would wait for a file that cannot be written, because a session that is never returned must
 * not end the session before it
 */
export function leaveCredential(tx: Tx, head: CredentialHead): void {
  const left = open_transactions.get(tx);
  if (left?.waits) left.books.requireSaves();
  left?.credentials.push(head);
}
