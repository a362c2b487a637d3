import { openQueues, type TakenClaim } from '../../../gateway/call/claim/queues.ts';
import { atomicAmount } from '../../../schema/amount.ts';
import { type AgentId, agentId } from '../../../schema/ids.ts';
import { parsePolicy } from '../../../schema/requests/policy.ts';
import { answerApproval } from '../../../subgraphs/book/approval/answer.ts';
import { findApprovals, statusOfApproval } from '../../../subgraphs/book/approval/find.ts';
import { BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import { voidReservations } from '../../../subgraphs/book/ledger/reserve.ts';
import { setPolicy } from '../../../subgraphs/book/policy/set.ts';
import type { ClaimRequest, Lease } from '../../../subgraphs/receipt/claim/claim.ts';
import { claimByKey, reopen } from '../../../subgraphs/receipt/claim/transitions.ts';
import { refuser, withBooks } from '../ledger/fixture.ts';
import { freshStore } from '../store.ts';
import { abandonLease, claimRequest, OWNER } from './fixture.ts';

const PRICE = atomicAmount(2000n);

interface SubmitOptions {
  /** One character, which is repeated to fill the hash of the request. */
  readonly hash?: string;
  readonly queue?: number;
  readonly key?: string;
  /** Whether its payment was already used outside of this claim, so that the money is owed. */
  readonly owed?: boolean;
  readonly intent_id?: string;
  readonly differently?: Partial<ClaimRequest>;
  readonly holds_atomic?: bigint;
}

/**
 * Books that allow nothing without an approval. They use the same statements as the service to claim, release and record, but their queues
 * record nothing.
 */
export async function openApprovals() {
  const database = await freshStore();
  // Two queues, like two processes: neither may depend on what the other has in memory.
  const queues = [1, 2].map(() =>
    openQueues({ database, faults: null }, { refuser, blocked_calls: new BlockedCalls() }),
  );
  let books = 0;
  let keys = 0;
  const requests = (agent: AgentId) => findApprovals(database, { agent_id: agent, limit: 200 });
  return {
    database,
    requests,
    async cautiousBook(): Promise<AgentId> {
      const id = ++books;
      await withBooks(database, id);
      await setPolicy(database, agentId(id), parsePolicy('tier2_above', '1999'));
      return agentId(id);
    },
    async submit(
      agent: AgentId,
      submitted: SubmitOptions = {},
    ): Promise<{ key: string; outcome: TakenClaim['outcome'] }> {
      const { hash = 'a', queue = 0, key = `key ${++keys}`, owed = false, intent_id = null } = submitted;
      const request = claimRequest(key, {
        request_hash: hash.repeat(64).slice(0, 64),
        amount_atomic: PRICE,
        landing: { paid_from_mark: 'mark' },
        means: owed ? null : { balance_atomic: 10n ** 12n, moved: [] },
        approved: true,
        ...submitted.differently,
      });
      const unnamed = { model: null, models: [], attempt_index: null, parent_ref: null };
      const holds_atomic = atomicAmount(submitted.holds_atomic ?? PRICE);
      const { outcome } = await (queues[queue] as (typeof queues)[number]).claim.submit({
        request,
        book: agent,
        holds_atomic,
        sealText: () => Buffer.alloc(0),
        call: { ...unnamed, field: request.field, intent_id },
      });
      return { key, outcome };
    },
    /** Approves all open requests with that hash. Returns their number. */
    async approve(agent: AgentId, hash = 'a'): Promise<number> {
      const open = (await requests(agent)).filter(it => it.requestHash[0] === hash && statusOfApproval(it) === 'open');
      for (const found of open)
        await database.transaction(tx => answerApproval(tx, found, { decision: 'approve', by: 'wallet' }));
      return open.length;
    },
    /** Releases a claim as its call does, and with it the reservation on the book. */
    async release(agent: AgentId, lease: Lease): Promise<void> {
      await abandonLease(database, lease, true);
      await database.transaction(tx => voidReservations(tx, [{ agent_id: agent, amount: PRICE }]));
    },
    /**
     * Reopens a claim as reconcile does when it finds that a payment was used after its release. Null if the payment was claimed again in
     * the meantime.
     */
    async usedElsewhere(key: string): Promise<Lease | null> {
      const standing = await claimByKey(database, key);
      const again = standing && (await database.transaction(tx => reopen(tx, standing, OWNER, 1)));
      return again && { claim_key: key, lease_owner: OWNER, lease_epoch: again.leaseEpoch };
    },
  };
}
