import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type BoardService, openBoardService, POSTS } from '../harness/board/open-board-service.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { invoiceOf, transferOf } from '../harness/ingest/transfer-source.ts';

/* An agent that is related to a reported endpoint can neither confirm the report nor support one by money that stayed with it. */

const SHOP = 'https://shop.example/v1';
let house: BoardService;
beforeAll(async () => {
  house = await openBoardService();
});

const confirm = (post_id: string, receipt_ref: string) =>
  house.act<JsonObject>(`${POSTS}/${post_id}/confirms`, house.other, { receipt_ref });

describe('POST /v1/board/posts/{id}/confirms', () => {
  it('409 related_confirm by whoever was paid, whatever the receipt is of, and on the graph alike', async () => {
    const { author, other, service } = house;
    const transfer = transferOf({ payer: author.account.address, pay_to: other.account.address });
    const receipt_ref = await house.recorded(invoiceOf(house.world.show(transfer)));
    const { body } = await house.post({ endpoint: SHOP, receipt_ref, outcome: 'success' });
    expect(body).toMatchObject({ backing: 'spend-backed', self_dealt: false });
    const own = await house.called(other);
    expect(await confirm(body.post_id, own)).toMatchObject({
      status: 409,
      body: { code: 'related_confirm', error: { param: 'receipt_ref' } },
    });
    const mutation = `mutation { confirmPost(postId: "${body.post_id}", receiptRef: "${own}") { confirmCount } }`;
    expect((await onGraph(service, mutation, {}, other.session)).refused).toMatchObject({ code: 'related_confirm' });
    // For a receipt that is not on their book, the refusal does not reveal that they are related.
    expect(await confirm(body.post_id, receipt_ref)).toMatchObject({
      status: 403,
      body: { code: 'receipt_not_on_book' },
    });
    expect((await service.get(`${POSTS}/${body.post_id}`)).body).toMatchObject({ confirm_count: 0 });
  });

  it('403 receipt_host_differs to whoever is neither, as before', async () => {
    const { post_id } = await house.posted({ endpoint: SHOP });
    expect(await confirm(post_id, await house.called(house.other))).toMatchObject({
      status: 403,
      body: { code: 'receipt_host_differs' },
    });
  });
});
