import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { runCommand } from '../harness/commands/run.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { newestBlock, reconciliationDoorsOf, sendNothingOf, sendUsdc } from '../harness/doors/reconciliations.ts';
import { startGateway } from '../harness/gateway.ts';
import { type LyingChain, startLyingChain } from '../harness/lying-chain.ts';
import { ownFolder } from '../harness/scratch.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let liar: LyingChain;
let bought: string;
let paid: number;
let last: number;
beforeAll(async () => {
  service = await sharedService();
  liar = await startLyingChain(service.chain.rpc_url);
  agent = await service.newAgent();
  bought = (await service.buy(agent.account, ask('one'))).body.svc.task_id;
  const other = (await service.chain.newWallet(0n)).address;
  await sendUsdc(service.chain, agent.account.address, agent.account.address, 50n);
  paid = await newestBlock(service.chain);
  await sendUsdc(service.chain, agent.account.address, other, 7n);
  // A transfer of zero that another account made, which is no transfer of the wallet.
  await sendNothingOf(service.chain, agent.account.address, other, other);
  last = await newestBlock(service.chain);
});

const ENTRY = 'gateway/commands/reconcile.ts';

function argumentsWith(members: Readonly<Record<string, string>> = {}): string[] {
  const given = {
    wallet: agent.account.address,
    from: '0',
    to: String(last),
    url: service.url,
    rpc: liar.url,
    ...members,
  };
  return Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Runs the command as the owner of a wallet does. Returns all of its output. */
async function reconciling(
  members: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = { WALLET_KEY: agent.account.private_key },
  ...flags: readonly string[]
) {
  const ended = await runCommand(ENTRY, [...argumentsWith(members), ...flags], { environment });
  return { ...ended, lines: ended.text.split('\n') };
}

/** Runs the command as a process, which ends only if it leaves nothing open. */
async function reconcilingAlone() {
  const environment = { WALLET_KEY: agent.account.private_key };
  const command = await startGateway({ entry: ENTRY, args: argumentsWith(), environment, await_health: false });
  return { code: await command.exited, lines: command.logs, text: command.logs.join('\n') };
}

/** Runs `npm run verify` for a file. */
const verifying = (file: string) => runCommand('gateway/commands/verify.ts', [file]);

describe('npm run reconcile', () => {
  it('1: names each transfer and what it is, by a node that refuses wide ranges and adds logs of others', async () => {
    liar.behave({ kind: 'narrow', blocks_max: 5 });
    liar.lie({
      eth_getLogs: truth => (truth as JsonObject[]).flatMap(log => [log, { ...log, address: `0x${'1'.repeat(40)}` }]),
    });
    const { code, text, lines } = await reconcilingAlone();
    liar.tellTruth();
    expect(lines).toContain(`Read ${last + 1} blocks: 4 transfers.`);
    expect(text).toMatch(new RegExp(`receipted +0\\.002 USDC to ${service.pay_to} .*${bought}`));
    expect(text).toMatch(new RegExp(`self_dealt +0\\.00005 USDC to ${agent.account.address}`));
    expect(text).toMatch(/unreceipted +0\.000007 USDC/);
    expect(text).toMatch(/^receipted: +2, 0\.004 USDC$/m);
    expect([code, text.includes(agent.account.private_key.slice(2))]).toEqual([1, false]);
  });

  it('0 where each has its receipt, by a signature that was made elsewhere; as JSON it is what the service signs', async () => {
    const signed_at = Math.floor(Date.now() / 1000);
    const message = `svc.receipts|${service.url}|${agent.account.address}|${signed_at}`;
    const file = join(await ownFolder(), 'signature');
    await writeFile(file, `${signed_at}:${await agent.account.signMessage({ message })}\n`);
    const { code, lines } = await reconciling({ to: String(paid), 'signature-file': file }, {}, '--json');
    expect(code).toBe(0);
    const found = JSON.parse(lines.find(line => line.startsWith('{')) ?? '');
    const { start, ended } = reconciliationDoorsOf(() => service);
    const asked = await start(agent, { wallet: agent.account.address, from_block: 0, to_block: paid });
    const done = await ended(agent, asked.body.report_id);
    const { report } = done;
    expect(found.sums).toEqual(report?.sums);
    const placed = (transfers: readonly JsonObject[] = []) =>
      transfers.map(({ block_number, log_index, tx_hash, payee, amount, class: of }) => [
        block_number,
        log_index,
        tx_hash,
        payee,
        amount,
        of,
      ]);
    expect(placed(found.transfers)).toEqual(placed(report?.transfers));

    const [answer, altered] = [join(await ownFolder(), 'answer.json'), join(await ownFolder(), 'altered.json')];
    await writeFile(answer, JSON.stringify(done));
    await writeFile(altered, JSON.stringify({ ...report, final: 'yes' }));
    expect(await verifying(answer)).toMatchObject({ code: 0, text: expect.stringContaining(done.report_id) });
    expect(await verifying(altered)).toMatchObject({ code: 1, text: expect.stringContaining('NOT valid') });
  });

  it('2 with the usage where wallet or blocks are not told; 3 where something cannot be looked at, in a sentence', async () => {
    const bare = await startGateway({
      entry: 'gateway/commands/reconcile.ts',
      args: ['--wallet', agent.account.address],
      await_health: false,
    });
    expect([await bare.exited, bare.logs[0]]).toEqual([2, expect.stringContaining('usage: npm run reconcile')]);
    expect(await reconciling({ to: String(last + 1_000) })).toMatchObject({
      code: 3,
      text: expect.stringContaining(`the newest block of the chain is ${last}`),
    });
    expect(await reconciling({}, {})).toMatchObject({
      code: 3,
      text: expect.stringContaining('has not signed the request'),
    });
    liar.behave({ kind: 'cut' });
    expect(await reconciling()).toMatchObject({ code: 3, text: expect.stringContaining('Cannot check') });
    liar.tellTruth();
  });
});
