import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { dumpOf } from '../harness/dump.ts';
import { delegate, headerOf, signAct } from '../harness/session/delegate.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ LOG_LEVEL: 'trace' });
});

it('acts, grants and challenges: what they show stands in no log, receipt or refusal, and of an act in no row', async () => {
  const agent = await service.newAgent();
  const key = privateKeyToAccount(generatePrivateKey());
  const session = await delegate(agent.account, agent.account, key);
  const at = `/v1/sessions/${session.delegation_hash}`;
  const bought = await service.buy(agent.account, ask('Bound'), session.headers);
  expect(bought.status).toBe(200);
  const challenged = await service.post<{ challenge_id: string; nonce: string; deadline: number }>(
    `${at}/challenge`,
    {},
  );
  const { challenge_id, nonce, deadline } = challenged.body;
  const resource = `receipt/${bought.body.svc.task_id}`;
  const read = await signAct(session, { action: 'read_private', resource: 'book', challenge_id, nonce, deadline });
  const redeem = await signAct(session, { action: 'redeem', resource });
  const refused = await signAct(session, { action: 'redeem', resource });
  // Each act is valid once, and the refusal of a repetition says only that.
  const acted: { readonly text: string }[] = [];
  for (const [body, status] of [
    [read, 200],
    [read, 409],
    [redeem, 200],
    [refused, 409],
    [{ ...read, challenge_id: `${challenge_id}x` }, 401],
  ] as const) {
    const heard = await service.post<JsonObject>(`${at}/act`, body);
    expect(heard.status, heard.text).toBe(status);
    acted.push(heard);
  }
  const forged = { grant: { ...session.grant, capAtomic: '2' }, signature: session.signature };
  acted.push(await service.buy(agent.account, ask('Forged'), headerOf(forged)));
  const receipt = await service.get(`/receipt/${bought.body.svc.task_id}.json`);
  const shown = [bought, receipt, await service.get(at), ...acted].map(({ text }) => text);
  const logs = service.gateway.logs.join('\n');
  const dump = await dumpOf(service.database_url);
  expect(dump).toContain(session.delegation_hash);
  const of_acts = [
    challenge_id,
    challenge_id.split('.').at(-1) ?? '',
    read.signature,
    redeem.signature,
    refused.signature,
  ];
  const of_grants = [session.signature, ...Object.values(session.headers)];
  for (const secret of [...of_acts, ...of_grants])
    for (const text of [logs, ...shown]) expect(text).not.toContain(secret);
  // A grant is stored with its signature, so that anyone can check it later. Of an act only the nonce is stored.
  for (const secret of of_acts) expect(dump).not.toContain(secret);
});
