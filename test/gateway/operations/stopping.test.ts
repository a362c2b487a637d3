import { once } from 'node:events';
import { connect } from 'node:net';
import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { audit } from '../../harness/faults/audit.ts';
import { newBuyer, send } from '../../harness/faults/buyer.ts';
import { claimOf } from '../../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../../harness/faults/ground.ts';
import { acceptsConnections, callsLeftBy, holdHub, startCall } from '../../harness/operations/in-flight-calls.ts';
import type { RunningService } from '../../harness/worker-gateway.ts';

/** Longer than anything here takes: what ends before it did not end by it. */
const NEVER = '600000';

async function readyz({ url }: RunningService) {
  const answer = await fetch(`${url}/readyz`, { headers: { connection: 'close' } });
  return { status: answer.status, body: (await answer.json()) as { status: unknown; away?: string[] } };
}

async function openSocket({ url }: RunningService) {
  const closed = Promise.withResolvers<number>();
  const opened = Promise.withResolvers<void>();
  createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    lazy: false,
    onNonLazyError: () => {},
    retryAttempts: 0,
    on: { connected: () => opened.resolve(), closed: event => closed.resolve((event as { code: number }).code) },
  });
  await opened.promise;
  return { closed: closed.promise };
}

let ground: Ground;
beforeAll(async () => {
  ground = await openGround();
});

describe('SIGTERM', () => {
  it('is drained first, then refuses connections; what is under way is answered and recorded; exit 0', async () => {
    const gateway = await ground.startProcess({ environment: { DRAIN_MS: '5000' } });
    const buyer = await newBuyer(ground);
    await eventually('ready', async () => (await readyz(gateway)).status === 200 || null);
    const release = holdHub(ground);
    const [chat, stream] = await Promise.all([buyer.chat('under way'), buyer.stream('in a stream')]);
    const sent = [await startCall(ground, gateway, chat), await startCall(ground, gateway, stream)];

    const exited = gateway.kill('SIGTERM');
    const draining = await eventually('draining', async () => {
      const heard = await readyz(gateway);
      return heard.status === 503 ? heard : null;
    });
    expect(draining.body.away).toEqual(['draining']);
    // Whoever has not noticed yet is served all the same.
    expect((await fetch(`${gateway.url}/v1/models`)).status).toBe(200);
    await eventually('refused', async () => ((await acceptsConnections(gateway)) ? null : true));
    for (const order of [chat, stream]) expect(await claimOf(ground, order)).toMatchObject({ state: 'claimed' });

    release();
    const [whole, streamed] = await Promise.all(sent.map(({ answer }) => answer));
    expect([whole?.status, streamed?.status]).toEqual([200, 200]);
    expect(streamed?.text).toMatch(/data: \[DONE\]\n\n$/);
    expect(await exited).toBe(0);
    expect(callsLeftBy(gateway)).toEqual([]);
    for (const order of [chat, stream])
      expect(await claimOf(ground, order)).toMatchObject({ state: 'recorded', lease_epoch: 0 });
    expect(await audit(ground)).toBe(2);
  });

  it('closes sockets with 1001, and waits for nobody who has not asked, or has not asked to the end', async () => {
    const gateway = await ground.startProcess();
    const { closed } = await openSocket(gateway);
    const idlers = await Promise.all(
      ['', 'GET /v1/models HTTP/1.1\r\nHost: x\r\nX-Half'].map(async begun => {
        const idler = connect(Number(new URL(gateway.url).port), '127.0.0.1');
        await once(idler, 'connect');
        idler.on('error', () => {});
        idler.write(begun);
        return idler;
      }),
    );
    expect(await gateway.kill('SIGTERM')).toBe(0);
    expect(await closed).toBe(1001);
    for (const idler of idlers) idler.destroy();
  });
});

describe('what a stop does not wait for', () => {
  it('after STOP_MS it ends with 0, names what it leaves, and the next start finishes it', async () => {
    const gateway = await ground.startProcess({ environment: { STOP_MS: '1500' } });
    const before = await audit(ground);
    const order = await (await newBuyer(ground)).chat('never said');
    const release = holdHub(ground);
    await startCall(ground, gateway, order);
    expect(await gateway.kill('SIGTERM')).toBe(0);
    expect(callsLeftBy(gateway)).toEqual([{ field: 'Mutation.createChatCompletion', step: 'work' }]);
    expect(await claimOf(ground, order)).toMatchObject({ state: 'claimed' });

    release();
    const next = await ground.start();
    await eventually('released', async () => ((await claimOf(ground, order))?.state === 'released' ? true : null));
    expect((await send(next, order)).status).toBe(200);
    await next.stop();
    expect(await audit(ground)).toBe(before + 1);
  });

  it('a second signal ends the drain and the waiting; it ends with 0 all the same', async () => {
    const gateway = await ground.startProcess({ environment: { DRAIN_MS: NEVER, STOP_MS: NEVER } });
    const order = await (await newBuyer(ground)).chat('never said');
    const release = holdHub(ground);
    await startCall(ground, gateway, order);
    const exited = gateway.kill('SIGTERM');
    await eventually('draining', async () => (await readyz(gateway)).status === 503 || null);
    gateway.process.kill('SIGINT');
    expect(await exited).toBe(0);
    expect(callsLeftBy(gateway)).toEqual([{ field: 'Mutation.createChatCompletion', step: 'work' }]);
    release();
  });
});
