import { expect } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { approvalDoorsOf } from '../doors/approvals.ts';
import { ask, type Service } from '../doors/open-service.ts';
import { type DelegatedSession, delegate, signAct } from './delegate.ts';
import { below, newKey, sessionPath } from './trees.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

/** Calls in sessions of a book that requires approval, and parent sessions that may approve these calls. */
export function familiesOf(service: () => Service) {
  const { warned, callToApprove } = approvalDoorsOf(service);
  const act = async (session: DelegatedSession, resource: string, more: JsonObject = {}) => {
    const body = await signAct(session, { action: 'approve', resource, ...more });
    return { body, heard: await service().post<JsonObject>(sessionPath(session.delegation_hash, 'act'), body) };
  };
  /** A session that a book's wallet has granted and a payment has bound. From then on the book requires approvals. */
  const overseen = async (key = newKey()): Promise<{ readonly worker: Agent; readonly parent: DelegatedSession }> => {
    const worker = await service().newAgent();
    const parent = await delegate(worker.account, worker.account, key);
    expect((await service().buy(worker.account, ask('Binds the parent'), parent.headers)).status).toBe(200);
    return { worker: await warned(worker), parent };
  };
  return {
    act,
    overseen,
    /** Such a session with a child session and a refused call of the child. */
    async family(content: string) {
      const { worker, parent } = await overseen();
      const child = await delegate(parent.agent, worker.account, newKey(), below(parent));
      const call = await callToApprove(worker, content, child.headers);
      return { worker, parent, child, call, resource: `call/${call.request.request_hash}` };
    },
  };
}
