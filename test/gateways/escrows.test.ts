import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { valueAt } from '../harness/database.ts';
import { send } from '../harness/faults/buyer.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import { type Agent, newAgent, startGateways } from '../harness/gateways/trio.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* Three processes on one Postgres: a step of an escrow is taken once, wherever it is asked for. */

let ground: Ground;
let gateways: readonly RunningService[];
let principal: Agent;
let counterparty: Agent;
const at = (index: number) => gateways[index % gateways.length] as RunningService;
beforeAll(async () => {
  ground = await openGround();
  gateways = await startGateways(ground, 3);
  [principal, counterparty] = [await newAgent(ground, at(0)), await newAgent(ground, at(1))];
});

async function a2a(gateway: RunningService, { agent_id, session }: Agent, action: string, body: JsonObject) {
  const answer = await fetch(`${gateway.url}/v1/agents/${agent_id}/book/a2a-escrow`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-SVC-Session': session },
    body: JSON.stringify({ action, ...body }),
  });
  return { status: answer.status, body: (await answer.json()) as JsonObject };
}

const rows = (phase: string, job_id: string) =>
  valueAt(
    ground.database_url,
    `select count(*)::int from book_row where evidence = 'a2a_escrow' and facts->'a2a_escrow'->>'phase' = '${phase}'
      and facts->'a2a_escrow'->>'job_id' = '${job_id}'`,
  );

/** Opened at one, funded at another. */
async function funded(job_id: string): Promise<void> {
  const order = await principal.chat(job_id);
  const { body } = await send(at(0), order);
  const task_id = (body as unknown as { svc: { task_id: string } }).svc.task_id;
  const terms = {
    job_spec_hash: '0'.repeat(64),
    amount: '2000',
    parties: { counterparty_agent_id: counterparty.agent_id },
  };
  const opened = await Promise.all(gateways.map(gateway => a2a(gateway, principal, 'open', { job_id, ...terms })));
  for (const one of opened) expect(one).toEqual({ status: 201, body: opened[0]?.body });
  const heard = await Promise.all(gateways.map(gateway => a2a(gateway, principal, 'fund', { job_id, task_id })));
  for (const one of heard) expect(one).toEqual({ status: 201, body: heard[0]?.body });
}

describe('a step that is asked for at three processes at once', () => {
  it('is one step, with one row on its book, and all three answer alike', async () => {
    await funded('alike');
    expect(await Promise.all(['open', 'funded'].map(phase => rows(phase, 'alike')))).toEqual([1, 1]);
  });

  it('of two kinds is one of them, and the others hear what is legal now', async () => {
    for (let round = 0; round < 3; round++) {
      const job_id = `race-${round}`;
      await funded(job_id);
      const submission = { fulfillment_receipt_id: '', output_commitment: `sha256:${'0'.repeat(64)}` };
      const bought = await send(at(1), await counterparty.chat(`${job_id} work`));
      submission.fulfillment_receipt_id = (bought.body as unknown as { svc: { task_id: string } }).svc.task_id;
      const claim = { claim_type: 'output_missing' };
      const heard = await Promise.all([
        a2a(at(0), principal, 'clawback', { job_id, ...claim }),
        a2a(at(1), counterparty, 'clawback', { job_id }),
        a2a(at(2), counterparty, 'submit', { job_id, ...submission }),
      ]);
      for (const { status, body } of heard)
        if (status !== 200) expect(body).toMatchObject({ code: 'invalid_escrow_action', legal: expect.any(Array) });
      // What the principal has ended before the counterparty did anything is on the principal's book alone.
      expect(await rows('clawed_back', job_id)).toBe(heard[0]?.status === 200 ? 1 : 2);
      // What was submitted first can only be given up by whoever has delivered.
      const won = heard.filter(({ status }) => status === 200).length;
      expect(won).toBe(heard[2]?.status === 200 ? 2 : 1);
    }
  });

  it('of an escrow whose time is over is written by one of their rounds', async () => {
    await funded('over');
    await valueAt(
      ground.database_url,
      `update a2a_escrow set expires_at = clock_timestamp() - interval '1 second' where job_id = 'over'`,
    );
    await expect.poll(() => rows('expired', 'over')).toBe(1);
    for (const gateway of gateways)
      expect((await a2a(gateway, counterparty, 'status', { job_id: 'over' })).body).toMatchObject({ state: 'expired' });
    expect(await rows('expired', 'over')).toBe(1);
  });
});
