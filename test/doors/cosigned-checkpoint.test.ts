import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../harness/commands/run.ts';
import { ask, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import { LogFollower } from '../harness/log/follower.ts';
import { cosignatureTime, NoteKey, openCheckpoint, openNote, openProof } from '../harness/log/note.ts';
import { lookOnce, type RunningWitness, startWitness } from '../harness/log/witness.ts';
import { ownPort } from '../harness/own-port.ts';
import { ownFolder } from '../harness/scratch.ts';

const stranger = new NoteKey('witness.example/other', 4);
const away = new NoteKey('witness.example/away', 4);

let service: Service;
let witness: RunningWitness;
let log_key: string;
let chat: Chat;

/** The witness has only the log's first key. The service has the URL at which the witness will listen. */
beforeAll(async () => {
  const [witness_port, away_port] = [await ownPort(), await ownPort()];
  const state = await ownFolder();
  // Creates the witness's key, because the service needs it at its start.
  const told = await lookOnce('http://127.0.0.1:9', state, '--name', 'witness.example/w1');
  const key = /^Witness: (.+)$/m.exec(told.text)?.[1] ?? '';
  const WITNESSES = JSON.stringify([
    { url: `http://127.0.0.1:${witness_port}`, key },
    { url: `http://127.0.0.1:${away_port}`, key: away.verifier_key },
  ]);
  service = await openService({ WITNESSES }, { meant: /witness/ });
  [log_key = ''] = (await service.get<string>('/log/verifier-keys')).body.split('\n');
  witness = await startWitness(service.url, state, '--port', String(witness_port), '--every', '3600');
  const account = await service.chain.newWallet();
  for (const content of ['one', 'two']) chat = (await service.buy(account, ask(content))).body;
});

const checkpointIn = (proof: string) => proof.slice(proof.indexOf('\n\n') + 2);
const checkpoint = async () => (await service.get<string>('/log/checkpoint')).body;

/** The checkpoint of that size, once it is cosigned. */
async function cosigned(size: number): Promise<string> {
  let note = '';
  const look = async () => {
    note = await checkpoint();
    cosignatureTime(note, witness.verifier_key);
    return openCheckpoint(note, log_key).size;
  };
  await expect.poll(look, { interval: 100 }).toBe(size);
  return note;
}

const bytesAt = async (path: string) => {
  const answer = await fetch(`${service.url}/log/${path}`);
  return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : null;
};

describe('a service with WITNESSES', () => {
  it('GET /log/checkpoint carries the cosignature of a real witness, and a follower opens it', async () => {
    await cosigned(2);
    expect(await new LogFollower(bytesAt, log_key).follow()).toMatchObject({ size: 2 });
  });

  it('GET /log/proof/{task_id} is under a cosigned checkpoint that holds the leaf', async () => {
    await cosigned(2);
    const { body } = await service.get<string>(`/log/proof/${chat.svc.task_id}`);
    const preimage = await service.get(`/receipt/${chat.svc.task_id}/preimage`);
    expect(openProof(body, Buffer.from(preimage.text), log_key)).toMatchObject({ index: 1, size: 2 });
    expect(cosignatureTime(checkpointIn(body), witness.verifier_key)).toBeGreaterThan(1_700_000_000);
  });

  it('npm run verify -- URL/log/checkpoint: 0, with --witness for the one that cosigned alone', async () => {
    await cosigned(2);
    const url = `${service.url}/log/checkpoint`;
    expect(await verify(url)).toMatchObject({
      code: 0,
      text: expect.stringContaining('The signature of witness.example/w1: give its verifier key'),
    });
    expect(await verify(url, '--witness', witness.verifier_key)).toMatchObject({
      code: 0,
      text: expect.stringContaining('Cosigned by witness.example/w1 at '),
    });
    expect(await verify(url, '--witness', stranger.verifier_key)).toMatchObject({ code: 1 });
  });

  it('npm run verify -- URL --witness KEY: 0 for the witness that cosigned, 1 for another', async () => {
    await cosigned(2);
    const url = `${service.url}/receipt/${chat.svc.task_id}.json`;
    expect(await verify(url, '--witness', witness.verifier_key)).toMatchObject({
      code: 0,
      text: expect.stringContaining('The witness witness.example/w1 cosigned the checkpoint.'),
    });
    expect(await verify(url, '--witness', stranger.verifier_key)).toMatchObject({
      code: 1,
      text: expect.stringContaining('(witness_missing)'),
    });
    const folder = await ownFolder();
    const files = { 'receipt.json': url, 'receipt.tlog-proof': `${service.url}/log/proof/${chat.svc.task_id}` };
    for (const [name, from] of Object.entries(files))
      await writeFile(join(folder, name), await (await fetch(from)).text());
    const kept = [join(folder, 'receipt.json'), '--proof', join(folder, 'receipt.tlog-proof'), '--log-key', log_key];
    expect(await verify(...kept, '--witness', witness.verifier_key)).toMatchObject({ code: 0 });
  });

  it('GET /health and /metrics say up to which size each has cosigned, and who is away', async () => {
    await cosigned(2);
    const { body } = await service.get('/health');
    expect(body).toMatchObject({
      status: 'ok',
      witnesses: [
        { witness: 'witness.example/w1', tree_size: 2, at: expect.stringMatching(/^20/), trouble: null },
        { witness: 'witness.example/away', tree_size: 0, at: null, trouble: 'away' },
      ],
    });
    const text = await (await fetch(`${service.url}/metrics`)).text();
    expect(text).toContain('svc_witness_leaves{witness="witness.example/w1"} 2');
    expect(text).toContain('svc_witness_trouble{witness="witness.example/away",trouble="away"} 1');
  });

  it('while the witness is away calls are paid and recorded as ever, and its last checkpoint is shown for a moment', async () => {
    const before = await cosigned(2);
    await witness.end('SIGTERM');
    const { status, body } = await service.buy(await service.chain.newWallet(), ask('three'));
    expect(status).toBe(200);
    expect(await checkpoint()).toBe(before);
    // A leaf that this checkpoint does not contain is proven under the newest one, which has no cosignature.
    const { body: proof } = await service.get<string>(`/log/proof/${body.svc.task_id}`);
    expect(openNote(checkpointIn(proof), log_key)).toContain('\n3\n');
    expect(() => cosignatureTime(checkpointIn(proof), witness.verifier_key)).toThrow('not cosigned');
    await service.query(`update tree_head set at = at - interval '2 minutes'`);
    expect(openCheckpoint(await checkpoint(), log_key).size).toBe(3);
  });

  it('a cosignature that was altered where it lies is left out', async () => {
    const lines = await service.query<{ line: string }>('select line from log_cosignature where tree_size = 2');
    expect(lines).toHaveLength(1);
    await service.query(`update log_cosignature set line = replace(line, 'w1 ', 'w2 ')`);
    const { body } = await service.get<string>('/log/checkpoint?tree_size=2');
    expect(openCheckpoint(body, log_key).size).toBe(2);
    expect(body).not.toContain('witness.example');
  });
});

const verify = (...args: string[]) => runCommand('gateway/commands/verify.ts', args);
