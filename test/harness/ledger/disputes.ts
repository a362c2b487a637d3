import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { agentId } from '../../../schema/ids.ts';
import type { DisputeRequest } from '../../../schema/requests/dispute.ts';
import { jobPaidBy } from '../../../subgraphs/board/job/paid-by.ts';
import { fileDispute } from '../../../subgraphs/book/dispute/file.ts';
import type { Collection } from '../../../subgraphs/book/ledger/collect.ts';
import { systemRandom } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { Issuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import { paidCall } from '../vectors/receipt-facts.ts';
import { collection, issuer } from './fixture.ts';

export const FIELD = 'Mutation.createChatCompletion';
export const SALT = '1'.repeat(32);

/** A collected call whose receipt has these members. */
export function disputedCall(
  agent: number,
  number: number,
  said: Partial<typeof paidCall>,
  by: Issuer = issuer,
): Collection {
  const { prepared, landing } = collection(agent, number);
  return { prepared: prepareReceipt(by, { ...prepared.facts, ...said }), landing };
}

/** The hash in a receipt that commits to a request with these arguments. */
export function boundRequest(args: JsonObject, salt = SALT): string {
  return canonicalHash({ request_hash: canonicalHash({ field: FIELD, args }), salt });
}

/** Returns a function that files disputes like the resolver. */
export function filing(database: Database, by: Issuer = issuer) {
  const clock = { now_ms: () => Date.now() };
  const context = { database, issuer: by, clock, random: systemRandom, profile: 'production', jobPaidBy } as const;
  return async (agent: number, members: DisputeRequest) => {
    const { dispute, filed } = await fileDispute(context, agentId(agent), members);
    return { dispute, filed, verdict: JSON.parse(dispute.verdict) as JsonObject };
  };
}
