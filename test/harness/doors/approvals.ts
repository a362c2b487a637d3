import { expect } from 'vitest';
import type { z } from 'zod';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import {
  type ApprovalDecision,
  type ApprovalNoun,
  type ApprovalsNoun,
  approvalText,
  type NamedApproval,
} from '../../../schema/session/approval.ts';
import { nowSeconds } from '../session/delegate.ts';
import { ask, type Service } from './open-service.ts';
import { policyDoorsOf } from './policies.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
type Account = Agent['account'];
export type ApprovalAnswer = z.infer<typeof ApprovalNoun>;

/** Signed body by which a wallet answers an approval request of the service with that base URL. */
export async function walletAnswerTo(
  base_url: string,
  wallet: Pick<Account, 'signMessage'>,
  named: NamedApproval,
  decision: ApprovalDecision = 'approve',
  at = nowSeconds(),
) {
  const wallet_signature = await wallet.signMessage({ message: approvalText(base_url, named, decision, at) });
  return { decision, wallet_signature, signature_timestamp: at };
}

type AnswerArguments = Parameters<typeof walletAnswerTo> extends [string, ...infer Signed] ? Signed : never;

/** Calls of the endpoints that list approval requests and answer them. */
export function approvalDoorsOf(service: () => Service) {
  const path = ({ agent_id }: Pick<Agent, 'agent_id'>, id = '') =>
    `/v1/agents/${agent_id}/book/approvals${id && `/${id}`}`;
  const shown = ({ session }: Pick<Agent, 'session'>) => ({ 'X-SVC-Session': session });
  const list = async (agent: Agent) => {
    const { status, body } = await service().get<z.infer<typeof ApprovalsNoun>>(path(agent), shown(agent));
    expect(status).toBe(200);
    return body.approvals;
  };
  const newest = async (agent: Agent): Promise<ApprovalAnswer> => {
    const [found] = await list(agent);
    if (!found) throw new Error('nothing was asked for');
    return found;
  };
  const walletAnswer = (...signed: AnswerArguments) => walletAnswerTo(service().url, ...signed);
  const answer = (agent: Pick<Agent, 'agent_id'>, id: string, body: unknown, headers = {}) =>
    service().post<ApprovalAnswer & JsonObject>(path(agent, id), body, headers);
  /** Sets the agent's policy so that its book allows nothing without an approval. */
  const warned = async (agent: Agent, policy: Readonly<Record<string, JsonObject[string]>> = {}): Promise<Agent> => {
    const book = policyDoorsOf(service());
    for (const [name, value] of Object.entries({ tier2_above: '1000', ...policy })) await book.set(agent, name, value);
    return agent;
  };
  return {
    path,
    shown,
    list,
    newest,
    walletAnswer,
    answer,
    warned,
    /** An agent whose book allows nothing without an approval. */
    cautious: async (policy: Readonly<Record<string, JsonObject[string]>> = {}) =>
      warned(await service().newAgent(), policy),
    /** A call that was refused, with its payment and the approval request that it left. */
    async callToApprove(agent: Agent, content: string, headers = {}) {
      const payment = await service().payment(agent.account, '/v1/chat/completions');
      const send = (body = ask(content)) =>
        service().post<JsonObject>('/v1/chat/completions', body, { ...payment, ...headers });
      const heard = await send();
      expect(heard).toMatchObject({ status: 403, body: { code: 'approval_ttl_expired', charged: false } });
      return { payment, heard, send, request: await newest(agent) };
    },
    /** Answers a request by the agent's wallet. */
    async decide(agent: Agent, request: NamedApproval, decision: ApprovalDecision = 'approve') {
      const answered = await answer(agent, request.approval_id, await walletAnswer(agent.account, request, decision));
      expect(answered.status, answered.text).toBe(200);
      return answered.body;
    },
  };
}
