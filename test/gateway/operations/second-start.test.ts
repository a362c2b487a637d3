import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/faults/ground.ts';
import { type RunningGateway, startGateway } from '../../harness/gateway.ts';
import { ownPort } from '../../harness/own-port.ts';
import { atEnd } from '../../harness/release.ts';
import { clearScratch, makeScratch } from '../../harness/scratch.ts';

let data_dir: string;
let environment: Readonly<Record<string, string>>;
let first: RunningGateway;
beforeAll(async () => {
  data_dir = await makeScratch();
  atEnd(() => clearScratch(data_dir));
  environment = { DATABASE_URL: (await freshDatabase()).url, BASE_RPC_URL: 'http://127.0.0.1:1' };
  first = await started();
});

async function started(port?: number): Promise<RunningGateway> {
  const gateway = await startGateway({ data_dir, environment, port: port ?? (await ownPort()), await_health: false });
  await eventually('it answers', () =>
    fetch(`${gateway.url}/livez`).then(
      ({ ok }) => ok || null,
      () => null,
    ),
  );
  return gateway;
}

const announced = () => readFile(join(data_dir, 'development.json'), 'utf8');
const urlIn = async () => (JSON.parse(await announced()) as { url: string }).url;

describe('a second start on one DATA_DIR', () => {
  it('on the same port is refused in one line that names the first, which goes on untouched', async () => {
    const before = await announced();
    const port = Number(new URL(first.url).port);
    const second = await startGateway({ data_dir, environment, port, await_health: false });
    expect(await second.exited).toBe(1);
    await expect
      .poll(() => second.logs.filter(line => !line.startsWith('{')))
      .toEqual([
        `PORT: ${port} is in use by the gateway of this DATA_DIR, process ${first.process.pid}; use that one at ${first.url}, or set PORT to another port to start a second one`,
      ]);
    expect(await announced()).toBe(before);
    expect((await fetch(`${first.url}/livez`)).status).toBe(200);
  });

  it('on another port joins it, and newcomers are told of the first for as long as that lives', async () => {
    const before = await announced();
    const second = await started();
    expect([await announced(), await urlIn()]).toEqual([before, first.url]);
    await first.kill('SIGKILL');
    const third = await started();
    expect(await urlIn()).toBe(third.url);
    expect((await fetch(`${second.url}/livez`)).status).toBe(200);
  });
});
