import type { PrivateKeyAccount } from 'viem/accounts';
import type { z } from 'zod';
import type { CorrectedInflowNoun, Row } from '../../../schema/book/row.ts';
import type { BookSequenceNoun } from '../../../schema/book-sequence.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type WalletClaimKind, walletClaimText } from '../../../schema/inflow-claim.ts';
import type { Service } from './open-service.ts';

type Agent = Pick<Awaited<ReturnType<Service['newAgent']>>, 'agent_id' | 'session'>;

/** Calls of the endpoints that record, correct and list inflows. */
export function inflowDoorsOf(service: () => Service) {
  const book = ({ agent_id }: Pick<Agent, 'agent_id'>, beneath: string) => `/v1/agents/${agent_id}/book${beneath}`;
  return {
    book,
    record: (agent: Agent, body: JsonObject, headers = {}) =>
      service().post<z.infer<typeof Row>>(book(agent, '/inflow'), { session: agent.session, ...body }, headers),
    correct: (agent: Agent, body: JsonObject, headers = {}) =>
      service().post<z.infer<typeof CorrectedInflowNoun>>(
        book(agent, '/inflow/correct'),
        { session: agent.session, ...body },
        headers,
      ),
    gaps: (agent: Agent, query = '') =>
      service().get<z.infer<typeof BookSequenceNoun>>(book(agent, `/gaps${query}`), { 'X-SVC-Session': agent.session }),
    async entries(agent: Agent) {
      const { body } = await service().get<{ entries: z.infer<typeof Row>[] }>(book(agent, ''), {
        'X-SVC-Session': agent.session,
      });
      return body.entries;
    },
  };
}

export type ClaimSigner = Pick<PrivateKeyAccount, 'signMessage'>;

/** A claim of an inflow with the signature that its wallet made in advance. */
export async function signedBy(account: ClaimSigner, kind: WalletClaimKind, members: JsonObject): Promise<JsonObject> {
  return { ...members, signature: await account.signMessage({ message: walletClaimText(kind, members) }) };
}
