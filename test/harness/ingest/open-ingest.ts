import type { z } from 'zod';
import type { IngestAnswer } from '../../../rest-compat/book/ingest-doors.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { payingFetch } from '../buyer.ts';
import { openService, type Service } from '../doors/open-service.ts';
import { openTransferSource, transferOf } from './transfer-source.ts';

export type IngestedRow = z.infer<typeof IngestAnswer> & JsonObject;
export type Agent = Awaited<ReturnType<Service['newAgent']>>;
export type IngestService = Awaited<ReturnType<typeof openIngestService>>;

interface Book {
  readonly entries: readonly (JsonObject & { readonly task_id: string; readonly payment?: JsonObject })[];
  readonly totals: { readonly count: number; readonly usdc_sum: string; readonly by_rail: JsonObject };
  readonly spent: string;
}

/** How many payments that do not exist an agent may name before it is refused. */
export const FAILED_MAX = 30;

/** The service with a made-up source of payments, and an agent that records them. */
export async function openIngestService(
  options: Omit<NonNullable<Parameters<typeof openService>[1]>, 'transfers'> = {},
) {
  const world = openTransferSource();
  const keys = { DEMO_KEYS: 'a-demo-key', WAIVER_KEYS: 'a-waiver-key' };
  const environment = { ...keys, RATE_INGESTS: `${FAILED_MAX}/600` };
  const service = await openService(environment, { ...options, transfers: world.transfers });
  const agent: Agent = await service.newAgent();
  const doorOf = ({ agent_id }: Pick<Agent, 'agent_id'>) => `/v1/agents/${agent_id}/book/ingest`;
  const possessed = ({ session }: Pick<Agent, 'session'> = agent) => ({ 'X-SVC-Session': session });
  const waived = (who: Agent = agent) => ({ ...possessed(who), 'X-API-Key': 'a-waiver-key' });
  const bookOf = async (who: Agent = agent) =>
    (await service.get<Book>(`/v1/agents/${who.agent_id}/book`, possessed(who))).body;
  return {
    world,
    service,
    agent,
    doorOf,
    possessed,
    waived,
    bookOf,
    /** Ingests a payment with a stamp that the agent's wallet pays. */
    ingest: (body: object, who: Agent = agent) =>
      service.knock<IngestedRow>('POST', doorOf(who), { body, headers: possessed(who), by: payingFetch(who.account) }),
    /** Ingests a payment with a waiver key in place of a stamp. */
    ingestWaived: (body: object, who: Agent = agent) => service.post<IngestedRow>(doorOf(who), body, waived(who)),
    rowOf: async (task_id: string, who: Agent = agent) =>
      (await bookOf(who)).entries.find(entry => entry.task_id === task_id),
    /** Adds a transfer by the agent's own wallet to the source. */
    ownTransfer: (members = {}) => world.show(transferOf({ payer: agent.account.address, ...members })),
    /** Number of payments of that agent's wallet that this service received. */
    stampsOf: async (who: Agent = agent) => (await service.transfersFrom(who.account)).length,
  };
}
