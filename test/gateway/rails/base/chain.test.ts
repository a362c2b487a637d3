import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { transferOf } from '../../../../gateway/rails/base/decide.ts';
import { openBase } from '../../../../gateway/rails/base/open-base.ts';
import { networks } from '../../../../schema/network.ts';
import { type BaseGround, openBaseGround } from '../../../harness/base/ground.ts';
import { atEnd } from '../../../harness/release.ts';

let ground: BaseGround;
beforeAll(async () => {
  ground = await openBaseGround();
});

/** A node that answers what it likes. */
async function nodeThatAnswers(answer: (body: string) => { status?: number; body: string }) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { status = 200, body: text } = answer(body);
    response.writeHead(status).end(text);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const base = openBase({ rpc_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  atEnd(async () => {
    await base.close();
    server.close();
  });
  return base;
}

describe('readiness', () => {
  it('tells balance and use of every authorization, many callers in few calls of the node', async () => {
    const items = await ground.payments(3);
    const [used] = items;
    if (!used) return;
    await ground.submitElsewhere(used);
    const poor = await ground.payment(await ground.wallet(7n));
    const asked = [...items, poor, ...Array.from({ length: 100 }, () => poor)];
    const answers = await Promise.all(asked.map(({ authorization }) => ground.base.readiness(authorization)));
    expect(answers.slice(0, 4)).toMatchObject([
      { kind: 'ok', value: { used: true, balance_atomic: 999_998_000n } },
      { kind: 'ok', value: { used: false } },
      { kind: 'ok', value: { used: false } },
      { kind: 'ok', value: { used: false, balance_atomic: 7n } },
    ]);
    expect(answers).toHaveLength(104);
  });

  it('tells who has code at its address, and who may not pay', async () => {
    const [plain, delegated, blacklisted] = await Promise.all([ground.wallet(), ground.wallet(), ground.wallet()]);
    await ground.setCode(delegated, `0xef0100${'11'.repeat(20)}`);
    await ground.blacklist(blacklisted);
    const items = await Promise.all([plain, delegated, blacklisted].map(payer => ground.payment(payer)));
    const answers = await Promise.all(items.map(({ authorization }) => ground.base.readiness(authorization)));
    expect(answers).toMatchObject([
      { value: { has_code: false, blacklisted: false } },
      { value: { has_code: true, blacklisted: false, balance_atomic: 1_000_000_000n } },
      { value: { has_code: false, blacklisted: true, balance_atomic: 1_000_000_000n, used: false } },
    ]);
  });
});

describe('the list of transfers', () => {
  it('names every one of them, as the chain does', async () => {
    const transfers = await ground.base.transfersTo(ground.pay_to, 0);
    const listed = await ground.chain.transfers(ground.pay_to);
    expect(transfers.kind === 'ok' && transfers.value.map(it => [it.tx_hash, it.log_index, it.amount_atomic])).toEqual(
      listed.map(it => [it.tx_hash, it.log_index, it.amount_atomic]),
    );
  });
});

describe('a node that does not answer as it should', () => {
  it.each([
    ['with a failure', { status: 503, body: 'busy' }],
    ['with no JSON', { body: '<html>' }],
    ['with another shape', { body: '{"jsonrpc":"2.0","id":0,"result":{"number":"x"}}' }],
    ['with an error', { body: '{"jsonrpc":"2.0","id":0,"error":{"code":-32005,"message":"rate limited"}}' }],
    ['for another call', { body: '{"jsonrpc":"2.0","id":9,"result":null}' }],
    ['with more than can be read', { body: ' '.repeat(33 * 1024 * 1024) }],
  ])('%s is unreachable, and throws nothing', async (_how, answer) => {
    const base = await nodeThatAnswers(() => answer);
    expect((await base.block('latest')).kind).toBe('unreachable');
  });

  it('and is not there at all is unreachable', async () => {
    const base = openBase({ rpc_url: 'http://127.0.0.1:9' });
    expect((await base.readiness({ payer: ground.pay_to, nonce: `0x${'00'.repeat(32)}` })).kind).toBe('unreachable');
    expect((await base.broadcast('0x02')).kind).toBe('unreachable');
    expect(await base.receipts(['0x01', '0x02'])).toMatchObject([{ kind: 'unreachable' }, { kind: 'unreachable' }]);
  });

  it.each([
    ['nonce too low: next nonce 7, tx nonce 3', 'nonce_too_low'],
    ['replacement transaction underpriced', 'underpriced'],
    ['already known', 'taken'],
    ['tx pool is full', 'turned_down'],
  ])('to a transaction says "%s": %s', async (message, kind) => {
    const error = { code: -32000, message };
    const base = await nodeThatAnswers(() => ({ body: JSON.stringify({ jsonrpc: '2.0', id: 0, error }) }));
    expect(await base.broadcast('0x02')).toMatchObject({ kind: 'ok', value: { kind } });
  });

  it('on one receipt hides none of the others', async () => {
    const answers: Record<string, object> = {
      '0x01': { error: { code: -32000, message: 'state is pruned' } },
      '0x02': { result: null },
      '0x03': { result: { status: 'odd' } },
    };
    const base = await nodeThatAnswers(body => {
      const calls: { id: number; params: [string] }[] = JSON.parse(body);
      return { body: JSON.stringify(calls.map(({ id, params }) => ({ jsonrpc: '2.0', id, ...answers[params[0]] }))) };
    });
    expect(await base.receipts(['0x01', '0x02', '0x03'])).toMatchObject([
      { kind: 'unreachable' },
      { kind: 'ok', value: null },
      { kind: 'unreachable' },
    ]);
  });
});

describe('a receipt', () => {
  const receiptOf = async (hash: string) => {
    const [receipt] = await ground.base.receipts([hash as `0x${string}`]);
    if (receipt?.kind !== 'ok' || !receipt.value) throw new Error('no receipt');
    return receipt.value;
  };

  it('proves a transfer only by the logs of USDC itself, of the right authorization, in the right order', async () => {
    const [item] = await ground.payments(1);
    if (!item) return;
    const { authorization } = item;
    const receipt = await receiptOf(await ground.submitElsewhere(item));
    expect(transferOf(receipt, authorization)).toMatchObject({ amount_atomic: 2000n });

    const [use, transfer] = receipt.logs;
    if (!use || !transfer) throw new Error('USDC logs two events');
    const elsewhere = { ...transfer, address: ground.pay_to };
    const lies = [
      { ...receipt, succeeded: false },
      { ...receipt, logs: [] },
      { ...receipt, logs: [use] },
      { ...receipt, logs: [transfer] },
      { ...receipt, logs: [transfer, use] },
      { ...receipt, logs: [use, elsewhere] },
      { ...receipt, logs: [{ ...use, address: ground.pay_to }, transfer] },
      { ...receipt, logs: [use, { ...transfer, data: `0x${'00'.repeat(31)}01` as const }] },
      { ...receipt, logs: [use, { ...transfer, topics: transfer.topics.toReversed() }] },
    ];
    for (const lie of lies) expect(transferOf(lie, authorization)).toBeNull();
    expect(transferOf(receipt, { ...authorization, nonce: `0x${'11'.repeat(32)}` })).toBeNull();
    expect(transfer.address).toBe(networks.base.usdc.toLowerCase());
  });
});
