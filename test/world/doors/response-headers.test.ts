import { beforeAll, describe, it } from 'vitest';
import { CHAT, REGISTER } from '../../harness/doors/open-service.ts';
import {
  breakOnce,
  buyByEachClient,
  type MeasuredService,
  openMeasuredService,
  paidRequests,
  registerAt,
  streamAt,
} from '../../harness/doors/short-heads.ts';
import { startNginx } from '../../harness/nginx.ts';

let service: MeasuredService;
/** URL of the nginx in front of the service. */
let url: string;
beforeAll(async () => {
  service = await openMeasuredService();
  await breakOnce(service);
  url = (await startNginx(service.url)).url;
});

describe('behind a stock nginx', () => {
  it.each(paidRequests)('POST %s: 402, and 200 by each official client, by key and delivered again', (...door) =>
    buyByEachClient(service, url, door),
  );

  it(`POST ${REGISTER}: 402, and 200 by the official client`, () => registerAt(service, url));

  it(`POST ${CHAT} with stream: true: the receipt is in its last event, what names it in its headers`, () =>
    streamAt(service, url));
});
