import { expect, it } from 'vitest';
import { newBuyer, send } from '../harness/faults/buyer.ts';
import { openGround } from '../harness/faults/ground.ts';
import { startLyingChain } from '../harness/lying-chain.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

it('a call is refused while no head of the chain can be had, and the refusal says so', async () => {
  const ground = await openGround();
  const well = await ground.start();
  const buyer = await newBuyer(ground);
  const registered = await send(well, await buyer.registration());
  const { agent_id, session } = registered.body as unknown as { agent_id: number; session: string };
  const policy = await post(well, `/v1/agents/${agent_id}/book/policy`, {
    session,
    policy_type: 'kill_switch',
    value: true,
  });
  expect(policy.status).toBe(200);

  const node = await startLyingChain(ground.chain.rpc_url);
  // The node returns old blocks, but never answers a request for the newest block.
  node.lie({ eth_getBlockByNumber: (truth, [tag]) => (tag === 'latest' ? undefined : truth) });
  const gateway = await ground.start({ environment: { BASE_RPC_URL: node.url } });
  const refused = await send(gateway, await buyer.chat('where are we?'));
  expect(refused).toMatchObject({
    status: 403,
    body: {
      code: 'policy_blocked',
      policy_code: 'kill_switch',
      base_anchor: { status: 'UNAVAILABLE' },
      charged: false,
    },
  });
  // The service is degraded but still refuses, reads and replays. /health names the part that is unavailable.
  const health = await fetch(`${gateway.url}/health`);
  expect({ status: health.status, body: await health.json() }).toMatchObject({
    status: 200,
    body: { status: 'degraded', away: ['base'] },
  });
});

const post = ({ url }: RunningService, path: string, body: object) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
