import { expect } from 'vitest';
import type { z } from 'zod';
import type { Row } from '../../../schema/book/row.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AssignmentNoun, AssignmentsNoun, BookSliceNoun } from '../../../schema/slice.ts';
import type { Service } from './open-service.ts';

type Agent = Pick<Awaited<ReturnType<Service['newAgent']>>, 'agent_id' | 'session'>;
export type CreatedAssignment = z.infer<typeof AssignmentNoun> & { readonly token: string };
export type SliceAnswer = z.infer<typeof BookSliceNoun> & { readonly entries: z.infer<typeof Row>[] };

export const bearerOf = (token: string) => ({ authorization: `Bearer ${token}` });

/** Calls of the endpoints that open, read and end slices of a book. */
export function assignDoorsOf(service: () => Service) {
  const path = ({ agent_id }: Pick<Agent, 'agent_id'>, id = '') =>
    `/v1/agents/${agent_id}/book/assign${id && `/${id}`}`;
  const assign = (agent: Agent, body: JsonObject = {}, headers = {}) =>
    service().post<CreatedAssignment>(path(agent), { session: agent.session, ...body }, headers);
  return {
    path,
    assign,
    /** Opens a slice. Returns its token. */
    async tokenOf(agent: Agent, body: JsonObject = {}): Promise<CreatedAssignment> {
      const made = await assign(agent, body);
      expect(made.status, made.text).toBe(201);
      return made.body;
    },
    list: (agent: Agent) =>
      service().get<z.infer<typeof AssignmentsNoun>>(path(agent), { 'X-SVC-Session': agent.session }),
    revoke: (agent: Agent, id: string) =>
      service().knock<z.infer<typeof AssignmentNoun>>('DELETE', path(agent, id), {
        headers: { 'X-SVC-Session': agent.session },
      }),
    slice: (token: string, query = '') => service().get<SliceAnswer>(`/v1/book/slice${query}`, bearerOf(token)),
    collect: ({ agent_id }: Pick<Agent, 'agent_id'>, token: string, body: JsonObject) =>
      service().post<z.infer<typeof Row>>(`/v1/agents/${agent_id}/book/inflow`, body, bearerOf(token)),
    /** Moves the end of a slice into the past, by the database's clock. */
    async expire(assignment_id: string): Promise<void> {
      const text = `update slice_assignment set expires_at = clock_timestamp() - interval '1 second' where assignment_id = $1`;
      await service().query(text, [assignment_id]);
    },
  };
}
