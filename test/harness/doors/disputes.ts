import type { z } from 'zod';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { DisputesNoun, SignedDisputeNoun } from '../../../schema/dispute/dispute.ts';
import { ChatRequest } from '../../../schema/requests/chat-completion.ts';
import type { Service } from './open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
export type DisputeAnswer = Omit<z.infer<typeof SignedDisputeNoun>, 'verdict'> & { readonly verdict: JsonObject };

/** The request of a chat in the form that its receipt commits to. A dispute reveals it as proof. */
export function requestOfChat(body: JsonObject): JsonObject {
  return { field: 'Mutation.createChatCompletion', args: ChatRequest.parse(body) as unknown as JsonObject };
}

/** Calls of the endpoints that file and read disputes. */
export function disputeDoorsOf(service: () => Service) {
  const path = ({ agent_id }: Pick<Agent, 'agent_id'>, beneath = '') => `/v1/agents/${agent_id}/book/dispute${beneath}`;
  const shown = ({ session }: Pick<Agent, 'session'>) => ({ 'X-SVC-Session': session });
  return {
    path,
    file: (agent: Agent, body: JsonObject, headers = {}) =>
      service().post<DisputeAnswer>(path(agent), { session: agent.session, ...body }, headers),
    list: (agent: Agent, query = '') => service().get<z.infer<typeof DisputesNoun>>(path(agent, query), shown(agent)),
    one: (agent: Agent, id: string) => service().get<DisputeAnswer>(path(agent, `/${id}`), shown(agent)),
    /** A chat that the agent bought, with the salt that proves which request it was. */
    async bought({ account, session }: Agent, body: JsonObject) {
      const { body: chat, headers, status } = await service().buy(account, body, { 'X-SVC-Session': session });
      if (status !== 200) throw new Error(`a chat was answered by ${status}`);
      return { task_id: chat.svc.task_id, svc: chat.svc, salt: headers.get('x-svc-request-salt') ?? '' };
    },
  };
}
