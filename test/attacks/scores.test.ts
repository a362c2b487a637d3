import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { EndpointScoreNoun } from '../../schema/board/score.ts';
import { scoreLimits } from '../../schema/limits.ts';
import {
  type Author,
  type BoardService,
  openBoardService,
  type PostAnswer,
} from '../harness/board/open-board-service.ts';
import { moveBoard } from '../harness/doors/board-posts.ts';
import { signAsShop } from '../harness/ingest/merchant.ts';
import { invoiceOf, transferOf } from '../harness/ingest/transfer-source.ts';

/* Attempts to change a score by a payment to oneself, together with a signed claim that another endpoint was paid. */

type EndpointScore = z.infer<typeof EndpointScoreNoun>;

let house: BoardService;
beforeAll(async () => {
  house = await openBoardService();
});

/** The current score. It includes rows that a test wrote directly into the tables. */
const scoreOf = async (host: string) => {
  await moveBoard(house.service);
  return (await house.service.get<EndpointScore>(`/v1/board/endpoints/${host}/score`)).body;
};
/** Posts a report of a payment from the author's wallet to another of his wallets, which signs that it belongs to that endpoint. */
async function reportOwnPayment(who: Author, endpoint: string, outcome: string, amount = '1000000') {
  const { service, world } = house;
  const shop = await service.chain.newWallet();
  const transfer = world.show(transferOf({ payer: who.account.address, pay_to: shop.address, amount }));
  const ingested = await service.post<{ task_id: string }>(
    `/v1/agents/${who.agent_id}/book/ingest`,
    {
      ...invoiceOf(transfer, { resource: endpoint }),
      offer_receipt: await signAsShop(shop, transfer, { resource: endpoint }),
    },
    { ...house.possessed(who), 'X-API-Key': 'a-waiver-key' },
  );
  return house.posted({ endpoint, outcome, receipt_ref: ingested.body.task_id }, who);
}
const reasonOf = ({ rows }: EndpointScore, { post_id }: PostAnswer) =>
  rows.find(row => row.post_id === post_id)?.zero_because;

describe('whoever is paid by himself', () => {
  it('moves the score of no other host: that it was theirs is the word of a wallet of his', async () => {
    const liked = await reportOwnPayment(house.other, 'https://shop.example/v1/x', 'success');
    expect(liked.host_basis).toBe('signed');
    const before = await scoreOf('shop.example');
    const blamed = await reportOwnPayment(await house.service.newAgent(), 'https://shop.example/v1/x', 'error');
    expect(blamed.host_basis).toBe('signed');
    const after = await scoreOf('shop.example');
    expect([reasonOf(after, liked), reasonOf(after, blamed)]).toEqual(['paid_elsewhere', 'paid_elsewhere']);
    expect([after.score_bp, after.clusters, after.cost_to_move]).toEqual([
      before.score_bp,
      [],
      { move_bp: 1_000, up: null, down: null },
    ]);
  });

  it('nor ours: a post of this service on money that never came to it is his own word', async () => {
    const blamed = await reportOwnPayment(house.other, 'https://gateway.example/v1/chat', 'error');
    expect(blamed.host_basis).toBe('declared');
    const { score_bp, rows } = await scoreOf('gateway.example');
    expect([score_bp, rows.map(({ zero_because }) => zero_because)]).toEqual([null, ['declared']]);
  });

  it('nor by dust: what weighs nothing, and what one payer has paid, takes the places of nobody else', async () => {
    const { author, other, service } = house;
    const honest = await house.posted({ receipt_ref: await house.called(author) }, author);
    const before = await scoreOf('gateway.example');
    expect(reasonOf(before, honest)).toBeNull();
    const his = await house.called(other);
    const flood = (amount: number, id: string, count: number) =>
      service.query(
        `insert into board_post (post_id, agent_id, endpoint_host, host_basis, outcome, receipt_ref, stamp_task_id,
            amount_atomic, paid_here, posted_at)
          select 'post_z' || $1 || n, $2, 'gateway.example', 'signed', 'error', $3, 'task_none', $4, true, now()
          from generate_series(1, $5::int) n`,
        [id, other.agent_id, his, amount, count],
      );
    await flood(1, 'dust', 2 * scoreLimits.rows_max);
    const dusted = await scoreOf('gateway.example');
    expect(dusted.clusters).toEqual(before.clusters);
    expect(dusted.score_bp).toBe(before.score_bp);
    expect(dusted.rows.filter(({ amount }) => amount === '1').every(row => row.zero_because === 'too_little')).toBe(
      true,
    );
    await flood(2_000, 'own', 2 * scoreLimits.rows_max);
    const { rows, clusters } = await scoreOf('gateway.example');
    expect(clusters).toEqual(expect.arrayContaining(before.clusters));
    expect(rows.filter(({ zero_because }) => zero_because === null)).toHaveLength(1 + scoreLimits.rows_per_payer_max);
  });
});
