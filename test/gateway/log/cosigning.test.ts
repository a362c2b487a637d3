import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { Cosigning, openWitnesses } from '../../../gateway/log/cosigning.ts';
import { loggerOn } from '../../../gateway/operations/logger.ts';
import { openIssuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { checkpoint } from '../../../subgraphs/receipt/log/checkpoint.ts';
import { witnessStandings } from '../../../subgraphs/receipt/log/cosignatures.ts';
import type { HeadName } from '../../../subgraphs/receipt/log/tree-head.ts';
import { cosignatureTime, NoteKey } from '../../harness/log/note.ts';
import { lookOnce, startWitness } from '../../harness/log/witness.ts';
import { ownPort } from '../../harness/own-port.ts';
import { type ReceiptDatabase, receiptDatabase } from '../../harness/receipt/database.ts';
import { atEnd } from '../../harness/release.ts';
import { ownFolder } from '../../harness/scratch.ts';

const issuer = openIssuer(['22'.repeat(32)], { base_url: 'https://svc.example', now_ms: () => 0 });

interface WitnessReport {
  readonly status: number;
  readonly body?: string;
  readonly media?: string;
}
/** What a witness answers to a submission. */
type Answer = (submission: string, asked: number) => WitnessReport | Promise<WitnessReport>;

/** A witness that answers as the test sets, under a key of its own. */
async function witnessThat(answer: Answer) {
  const submissions: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    submissions.push(text);
    const { status, body = '', media = 'text/plain' } = await answer(text, submissions.length);
    response.writeHead(status, { 'content-type': media }).end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const key = new NoteKey(`witness.example/${(server.address() as AddressInfo).port}`, 4);
  return { submissions, key, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const textOf = (submission: string) => `${submission.split('\n\n')[1] ?? ''}\n`;
const conflict = (size: number): WitnessReport => ({ status: 409, body: `${size}\n`, media: 'text/x.tlog.size' });

let database: ReceiptDatabase;
beforeEach(async () => {
  const opened = await receiptDatabase();
  atEnd(() => opened.close());
  database = opened;
  await database.issue(issuer, 'task_a', 'task_b');
  await database.issue(issuer, 'task_c');
});

type CosigningWitness = Pick<Awaited<ReturnType<typeof witnessThat>>, 'url'> & {
  readonly key: Pick<NoteKey, 'verifier_key'>;
};

function cosigning(...witnesses: readonly CosigningWitness[]) {
  const lines: string[] = [];
  const met: HeadName[] = [];
  const opened = openWitnesses(witnesses.map(({ url, key }) => ({ url, key: key.verifier_key })));
  const logger = loggerOn({ write: line => void lines.push(line) }, 'info');
  const meet = async (head: HeadName) => void met.push(head);
  const keys = opened.map(({ key }) => key);
  return {
    lines,
    met,
    /** A round of a process that has just started, so that no witness is paused. */
    round: () => new Cosigning({ database, issuer, witnesses: opened, logger, meet }).round(),
    standings: () =>
      witnessStandings(
        database,
        keys.map(({ text }) => text),
      ),
    async served() {
      const found = await checkpoint({ database, issuer, witnesses: keys });
      return found.kind === 'known' ? found.note : '';
    },
  };
}

describe('the round that has heads cosigned', () => {
  it('submits the newest head, keeps what comes back, and asks again once the log has grown, with a proof', async () => {
    const good = await witnessThat(text => ({ status: 200, body: good.key.sign(textOf(text), 1_700_000_000) }));
    const { round, served, standings } = cosigning(good);
    await round();
    await round();
    expect(good.submissions.map(text => text.split('\n')[0])).toEqual(['old 0']);
    expect(cosignatureTime(await served(), good.key.verifier_key)).toBe(1_700_000_000);
    await database.issue(issuer, 'task_d');
    await round();
    expect(good.submissions.map(text => text.split('\n')[0])).toEqual(['old 0', 'old 3']);
    expect(await standings()).toMatchObject([{ old_size: 4, cosigned_size: 4, trouble: null }]);
  });

  it('a real witness takes its proofs, from whichever size it is at', async () => {
    const [port, state] = [await ownPort(), await ownFolder()];
    const made = await witnessThat(() => ({ status: 404 }));
    const log_key = issuer.verifierKeys('svc.example/log')[0] ?? '';
    const shown = createServer(async (_request, response) => {
      const found = await checkpoint({ database, issuer, witnesses: [] }, { tree_size: 2 });
      response.end(found.kind === 'known' ? found.note : '');
    });
    await new Promise<void>(resolve => shown.listen(0, '127.0.0.1', resolve));
    atEnd(() => shown.close());
    const at = `http://127.0.0.1:${(shown.address() as AddressInfo).port}`;
    await lookOnce(at, state, '--key', log_key);
    const real = await startWitness(at, state, '--port', String(port), '--every', '3600');
    const { round, served } = cosigning({ url: real.url, key: { verifier_key: real.verifier_key } }, made);
    await round();
    expect(cosignatureTime(await served(), real.verifier_key)).toBeGreaterThan(1_700_000_000);
    for (const task of ['task_d', 'task_e', 'task_f']) {
      await database.issue(issuer, task);
      await round();
      expect(cosignatureTime(await served(), real.verifier_key)).toBeGreaterThan(1_700_000_000);
    }
    await real.end('SIGTERM');
  });

  it('goes on from the size that a witness names', async () => {
    const other = await witnessThat((text, asked) =>
      asked === 1 ? conflict(2) : { status: 200, body: other.key.sign(textOf(text), 1) },
    );
    const { round, served, standings } = cosigning(other);
    await round();
    expect(other.submissions.map(text => text.split('\n')[0])).toEqual(['old 0', 'old 2']);
    expect(cosignatureTime(await served(), other.key.verifier_key)).toBe(1);
    expect(await standings()).toMatchObject([{ old_size: 3 }]);
  });

  it('believes no cosignature that its witness did not make, and keeps none', async () => {
    const stranger = new NoteKey('witness.example/stranger', 4);
    const lies: Answer[] = [
      text => ({ status: 200, body: stranger.sign(textOf(text), 1) }),
      () => ({ status: 200, body: liars[1]?.key.sign('another text\n', 1) ?? '' }),
      () => ({ status: 200, body: 'x' }),
      () => ({ status: 200 }),
    ];
    const liars = await Promise.all(lies.map(lie => witnessThat(lie)));
    const { round, served, standings, lines } = cosigning(...liars);
    await round();
    expect((await standings()).map(({ trouble }) => trouble)).toEqual(['lied', 'lied', 'lied', 'lied']);
    expect(await served()).not.toContain('witness.example');
    expect(await database.query({ text: 'select 1 from log_cosignature' })).toEqual([]);
    expect(lines.filter(line => /"level":50/.test(line))).toHaveLength(4);
  });

  it('a refusal is a fatal line, said once; the log is held to what that witness has cosigned', async () => {
    const refusing = await witnessThat((text, asked) =>
      asked === 1 ? { status: 200, body: refusing.key.sign(textOf(text), 1) } : { status: 422 },
    );
    const { round, standings, lines, met } = cosigning(refusing);
    await round();
    await database.issue(issuer, 'task_d');
    await round();
    await round();
    expect(await standings()).toMatchObject([{ cosigned_size: 3, trouble: 'refused' }]);
    expect(lines.filter(line => /"level":60/.test(line))).toHaveLength(1);
    const [head] = await database.query<HeadName>({
      text: 'select tree_size, root_hash from tree_head where tree_size = 3',
    });
    expect(met).toEqual([head, head]);
  });

  it.each([
    ['away', () => ({ status: 500 }), 40],
    ['away', () => ({ status: 302 }), 40],
    ['away', () => ({ status: 409, body: '2\n' }), 40],
    ['unknown_log', () => ({ status: 404 }), 40],
    ['unknown_log', () => ({ status: 403 }), 40],
    ['ahead', () => conflict(99), 50],
  ] as const)('notes %s, once', async (trouble, answer, level) => {
    const { round, standings, lines } = cosigning(await witnessThat(answer));
    await round();
    await round();
    expect(await standings()).toMatchObject([{ cosigned_size: 0, trouble }]);
    expect(lines.map(line => JSON.parse(line).level)).toEqual([level]);
  });

  it('who is away rests, and the others are asked meanwhile', async () => {
    const slow = await witnessThat(() => new Promise(() => {}));
    const good = await witnessThat(text => ({ status: 200, body: good.key.sign(textOf(text), 1) }));
    const opened = openWitnesses([slow, good].map(({ url, key }) => ({ url, key: key.verifier_key })));
    const logger = loggerOn({ write: () => {} }, 'info');
    const one = new Cosigning({ database, issuer, witnesses: opened, logger, meet: async () => {} });
    await one.round();
    await database.issue(issuer, 'task_d');
    await one.round();
    expect([slow.submissions.length, good.submissions.length]).toEqual([1, 2]);
  });

  it('old cosignatures are forgotten, but for heads that stand on Base', async () => {
    const good = await witnessThat(text => ({ status: 200, body: good.key.sign(textOf(text), 1) }));
    const { round } = cosigning(good);
    await database.query({
      text: `insert into log_cosignature select -size, 'old', '', '', now() from generate_series(1, 3000) size`,
    });
    await database.query({
      text: `insert into log_anchor (anchor_id, chain_epoch, sender, purpose, tree_size, root_hash, nonce, attempts, fee_max_wei, state, at)
        values ('a', 1, '', 'anchor', -2999, '', 0, '[]', 0, 'final', now())`,
    });
    await round();
    const [row] = await database.query<{ count: number; oldest: number }>({
      text: 'select count(*)::int as count, min(tree_size)::int as oldest from log_cosignature',
    });
    expect(row?.oldest).toBe(-2999);
    expect(row?.count).toBeLessThan(2_055);
  });
});
