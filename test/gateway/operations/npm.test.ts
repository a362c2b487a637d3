import { once } from 'node:events';
import { createServer } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../harness/faults/audit.ts';
import { newBuyer } from '../../harness/faults/buyer.ts';
import { claimOf } from '../../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../../harness/faults/ground.ts';
import { type RunningGateway, startGateway } from '../../harness/gateway.ts';
import { acceptsConnections, callsLeftBy, holdHub, startCall } from '../../harness/operations/in-flight-calls.ts';

/*
 * npm runs a script through `sh -c`. A signal to npm's own process, which is the one that supervisors and containers know,
 * has to reach ours.
 */

let ground: Ground;
beforeAll(async () => {
  ground = await openGround();
});

const startByNpm = (npm: readonly string[], await_health = true) => {
  const { data_dir } = ground;
  return startGateway({
    data_dir,
    npm,
    await_health,
    environment: { ...ground.environment(), PATH: process.env.PATH ?? '' },
  });
};

/** Throws where anybody still holds it. */
async function takePort({ url }: RunningGateway): Promise<void> {
  const server = createServer().listen(Number(new URL(url).port), '127.0.0.1');
  await once(server, 'listening');
  server.close();
}

const ways = [
  ['SIGTERM to the pid of npm', (gateway: RunningGateway) => gateway.kill('SIGTERM')],
  // From the terminal to each of its processes, and once more from npm to ours: one wish, and not a second one.
  ['SIGINT by Ctrl-C in a terminal', (gateway: RunningGateway) => gateway.killAll('SIGINT')],
] as const;

describe('npm start', () => {
  it.each(ways)('%s: what is under way is answered and recorded, nobody is left, the port is free', async (_, stop) => {
    const gateway = await startByNpm(['start']);
    const before = await audit(ground);
    const order = await (await newBuyer(ground)).chat('under way');
    const release = holdHub(ground);
    const { answer } = await startCall(ground, gateway, order);
    const exited = stop(gateway);
    await eventually('refused', async () => ((await acceptsConnections(gateway)) ? null : true));
    expect(await claimOf(ground, order)).toMatchObject({ state: 'claimed' });
    release();
    expect(await answer).toMatchObject({ status: 200 });
    expect(await exited).toBe(0);
    expect(callsLeftBy(gateway)).toEqual([]);
    expect(await claimOf(ground, order)).toMatchObject({ state: 'recorded', lease_epoch: 0 });
    await takePort(gateway);
    expect(await audit(ground)).toBe(before + 1);
  });
});

describe('npm run subgraph -- NAME', () => {
  it('serves the one that is named; SIGTERM to the pid of npm ends it with 0, and its port is free', async () => {
    const subgraph = await startByNpm(['run', 'subgraph', '--', 'receipt'], false);
    await eventually('listening', async () => (await acceptsConnections(subgraph)) || null);
    const asked = await fetch(`${subgraph.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(asked.status).toBe(401);
    expect(await subgraph.stop()).toBe(0);
    await takePort(subgraph);
  });

  it('without a name says which there are', async () => {
    const refused = await startByNpm(['run', 'subgraph'], false);
    expect(await refused.exited).toBe(2);
    expect(refused.logs.join('\n')).toContain('npm run subgraph -- ');
  });
});
