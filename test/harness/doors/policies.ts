import { expect } from 'vitest';
import type { z } from 'zod';
import type { RefusedCallAnswer } from '../../../rest-compat/receipt/answers.ts';
import type { BookNoun } from '../../../schema/book/book-page.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { RefusalNoun } from '../../../schema/refusal.ts';
import type { PaymentHeaders } from '../buyer.ts';
import { eventually } from '../faults/ground.ts';
import { ask, CHAT, type Service } from './open-service.ts';
import type { TableAnswer } from './table.ts';

export type Refusal = z.infer<typeof RefusalNoun>;
export type RefusedCallBody = z.infer<typeof RefusedCallAnswer>;
type Book = z.infer<typeof BookNoun>;
type Agent = Awaited<ReturnType<Service['newAgent']>>;

/**
 * Sends a free request again for as long as the service answers 503. On a busy machine Postgres ends a transaction of a process that gets
 * no CPU time.
 */
const done = <T>(send: () => Promise<TableAnswer<T>>): Promise<TableAnswer<T>> =>
  eventually('a free answer', async () => {
    const heard = await send();
    return heard.status === 503 ? null : heard;
  });

/** Helpers for agents whose books refuse some of their calls. */
export function policyDoorsOf(service: Service) {
  const path = (agent_id: number) => `/v1/agents/${agent_id}/book`;
  const set = ({ agent_id, session }: Agent, policy_type: string, value: JsonObject[string]) =>
    done(() => service.post(`${path(agent_id)}/policy`, { session, policy_type, value }));
  const chat = (payment: PaymentHeaders, body: JsonObject) => service.post<RefusedCallBody>(CHAT, body, payment);
  return {
    set,
    chat,
    setBudget: ({ agent_id, session }: Agent, budget: string) =>
      done(() => service.post(path(agent_id), { session, budget })),
    bookOf: async ({ agent_id, session }: Agent) =>
      (await service.get<Book>(path(agent_id), { 'X-SVC-Session': session })).body,
    /** An agent whose kill switch is on. */
    async newBlockedAgent(): Promise<Agent> {
      const agent = await service.newAgent();
      await set(agent, 'kill_switch', true);
      return agent;
    },
    /** A chat that the book refused, with the payment that was sent with it. */
    async chatToRefusal(agent: Agent, body = ask()) {
      const payment = await service.payment(agent.account, CHAT);
      const heard = await chat(payment, body);
      expect(heard.status).toBe(403);
      return { payment, heard };
    },
  };
}
