import { expect } from 'vitest';
import type { z } from 'zod';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { approvalWebhookText } from '../../../schema/session/approval.ts';
import type {
  BookWebhookNoun,
  SetWebhookNoun,
  WebhookDeadLettersNoun,
  WebhookPingNoun,
  WebhookSentNoun,
} from '../../../schema/webhook/webhook.ts';
import { nowSeconds } from '../session/delegate.ts';
import type { Service } from './open-service.ts';

type NewAgent = Awaited<ReturnType<Service['newAgent']>>;
type Agent = Pick<NewAgent, 'agent_id' | 'session'>;

/** Calls of the endpoints that set and manage webhooks. */
export function webhookDoorsOf(service: () => Pick<Service, 'knock' | 'get' | 'post' | 'url'>) {
  const path = ({ agent_id }: Pick<Agent, 'agent_id'>, beneath = '') => `/v1/agents/${agent_id}/book/webhook${beneath}`;
  const shown = ({ session }: Agent) => ({ 'X-SVC-Session': session });
  const put = (agent: Agent, body: JsonObject, headers: Record<string, string> = shown(agent)) =>
    service().knock<z.infer<typeof SetWebhookNoun>>('PUT', path(agent), { body, headers });
  /** The wallet's signed consent to send approval requests of its book to a URL. */
  const consent = async ({ agent_id, account }: NewAgent, url: string, at = nowSeconds()) => ({
    wallet_signature: await account.signMessage({
      message: approvalWebhookText(service().url, { agent_id, url: new URL(url).href }, at),
    }),
    signature_timestamp: at,
  });
  return {
    path,
    shown,
    put,
    consent,
    putForApprovals: async (agent: NewAgent, url: string) =>
      put(agent, { url, events: ['approval'], ...(await consent(agent, url)) }),
    /** Sets a webhook. Returns its secret. */
    async secretOf(agent: Agent, body: JsonObject): Promise<string> {
      const made = await put(agent, body);
      expect(made.status, made.text).toBe(200);
      return made.body.secret_once ?? '';
    },
    read: (agent: Agent) => service().get<z.infer<typeof BookWebhookNoun>>(path(agent), shown(agent)),
    remove: (agent: Agent) =>
      service().knock<z.infer<typeof BookWebhookNoun>>('DELETE', path(agent), { headers: shown(agent) }),
    rotate: (agent: Agent, body: JsonObject = {}) =>
      service().post<z.infer<typeof SetWebhookNoun>>(path(agent, '/rotate'), body, shown(agent)),
    ping: (agent: Agent) => service().post<z.infer<typeof WebhookPingNoun>>(path(agent, '/ping'), {}, shown(agent)),
    redeliver: (agent: Agent, from_position: number, to_position: number) =>
      service().post<z.infer<typeof WebhookSentNoun>>(
        path(agent, '/redeliver'),
        { from_position, to_position },
        shown(agent),
      ),
    deadLetters: (agent: Agent, query = '') =>
      service().get<z.infer<typeof WebhookDeadLettersNoun>>(path(agent, `/dead-letters${query}`), shown(agent)),
  };
}
