import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import type { CredentialHead, EventHead } from './compare.ts';

/* What a transaction that a process watches over does to books: told by whoever writes them, and known once it is committed. */

/** A head under its lock, as far as it is compared. */
export interface LockedHead {
  readonly position: number;
  readonly event_hash: string;
  readonly damaged: boolean;
}

/** What a transaction has left so far, and what is known of books by whoever has begun it. */
export interface Left {
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
  /** Whether its answer waits until these are saved. */
  readonly waits: boolean;
}

const open_transactions = new WeakMap<Tx, Left>();

export function watchTransaction(tx: Tx, left: Left): void {
  open_transactions.set(tx, left);
}

/** Books that a transaction has locked must go on from what its process knows. @throws as KnownBooks.requireGoesOn */
export async function requireBooksGoOn(
  tx: Tx,
  agent_ids: readonly AgentId[],
  found: ReadonlyMap<AgentId, LockedHead>,
): Promise<void> {
  const left = open_transactions.get(tx);
  await left?.books.requireGoesOn(tx, agent_ids, { found, waits: left.waits });
}

/** Known once the transaction is committed. */
export function leaveBooks(tx: Tx, events: readonly EventHead[]): void {
  const heads = open_transactions.get(tx)?.heads;
  for (const { agent_id, position, hash, at } of heads ? events : []) {
    if ((heads?.get(agent_id)?.position ?? 0) < position) heads?.set(agent_id, { agent_id, position, hash, at });
  }
}

/**
 * The same of a session that was issued, or of a revocation: no event of a book tells of it. @throws DatabaseAway where its answer would
 * wait for what cannot be saved: a session that nobody is told must not end the one before it
 */
export function leaveCredential(tx: Tx, head: CredentialHead): void {
  const left = open_transactions.get(tx);
  if (left?.waits) left.books.requireSaves();
  left?.credentials.push(head);
}
