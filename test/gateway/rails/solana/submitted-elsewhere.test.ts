import { beforeAll, expect, it } from 'vitest';
import { openFeePayer } from '../../../../gateway/rails/solana/settler.ts';
import { ask, CHAT, type Chat } from '../../../harness/doors/open-service.ts';
import { makeSolanaPayment } from '../../../harness/solana/make-payment.ts';
import { openSolanaService, type SolanaService } from '../../../harness/solana/open-service.ts';

let service: SolanaService;
beforeAll(async () => {
  service = await openSolanaService();
});

it('a payment that the chain has already, and nobody here knows of, buys its answer once: the same is kept', async () => {
  const payer = await service.svm.newWallet();
  let sent = '';
  const transaction = (text: string) => {
    sent = openFeePayer(service.svm.fee_payer.private_key).sign({ kind: 'partial', transaction: text }).raw;
    return text;
  };
  const headers = await makeSolanaPayment(service, payer.signer, { transaction });
  await service.svm.call('sendTransaction', sent, { encoding: 'base64', skipPreflight: true });
  expect(await service.movedFrom(payer)).toHaveLength(1);

  const first = await service.post<Chat>(CHAT, ask('Sent before'), headers);
  expect(first.status).toBe(200);
  const kept = 'select answer_box is not null as kept from payment_claim where payer = $1';
  expect(await service.query(kept, [payer.address])).toEqual([{ kept: true }]);
  const again = await service.post<Chat>(CHAT, ask('Sent before'), headers);
  expect([again.status, again.headers.get('x-svc-settlement-status')]).toEqual([200, 'idempotent_replay']);
  expect(again.body.id).toBe(first.body.id);
  expect((await service.post(CHAT, ask('Something else'), headers)).status).toBe(409);
  expect(await service.movedFrom(payer)).toHaveLength(1);
});
