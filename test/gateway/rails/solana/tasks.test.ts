import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { networks } from '../../../../schema/network.ts';
import type { ReceiptBody } from '../../../harness/doors/open-service.ts';
import { openSolanaService, type SolanaService } from '../../../harness/solana/open-service.ts';

const TASK = '/task-request';

let service: SolanaService;
beforeAll(async () => {
  service = await openSolanaService();
});

interface TaskAnswer extends JsonObject {
  readonly svc: ReceiptBody;
}
const taskOf = (sender: string) => ({ message_type: 'inference_request', chain_id: 'solana', amount: '2000', sender });

it(`POST ${TASK} 200 on Solana, to whom its sender pays it; and GET /prove-result says where`, async () => {
  const payer = await service.svm.newWallet();
  const payment = await service.paymentOnSolana(payer, TASK);
  const { status, body } = await service.post<TaskAnswer>(TASK, taskOf(payer.address), payment);
  const { task_id, payment_ref } = body.svc;
  expect(payment_ref).toMatch(/^solana:/);
  expect({ status, ...body }).toMatchObject({ status: 'accepted', payment_ref, settled_amount: '2000' });
  const proof = await service.get(`/prove-result?task_id=${task_id}&requested=true`);
  expect(proof).toMatchObject({ status: 200, body: { task_id, status: 'accepted', proof_outcome: 'settled' } });
  expect(proof.body.settlement).toMatchObject({
    payment_ref,
    chain: networks.solana.caip2,
    tx_hash: payment_ref.replace('solana:', ''),
    asset: networks.solana.usdc,
    payer: payer.address,
    observed: true,
  });
});

it(`POST ${TASK} refused on Solana before anything is claimed: another sender, another network`, async () => {
  const [payer, other] = [await service.svm.newWallet(), await service.svm.newWallet()];
  const payment = await service.paymentOnSolana(payer, TASK);
  const refused = await service.post(TASK, taskOf(other.address), payment);
  expect(refused).toMatchObject({ status: 403, body: { code: 'payer_mismatch', charged: false } });
  const elsewhere = await service.post(TASK, { ...taskOf(payer.address), chain_id: 'base' }, payment);
  expect(elsewhere).toMatchObject({ status: 400, body: { error: { param: 'chain_id' } } });
  expect((await service.post(TASK, taskOf(payer.address), payment)).status).toBe(200);
});
