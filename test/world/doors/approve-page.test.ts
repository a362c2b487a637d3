import { beforeAll, expect, it } from 'vitest';
import { approvalDoorsOf } from '../../harness/doors/approvals.ts';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { ask, openService, type Service } from '../../harness/doors/open-service.ts';
import { webhookDoorsOf } from '../../harness/doors/webhooks.ts';
import { openReceiver } from '../../harness/webhook/receiver.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ NODE_ENV: 'test' });
});

const { newest, cautious, callToApprove } = approvalDoorsOf(() => service);
const { putForApprovals } = webhookDoorsOf(() => service);

it('shows in a browser what a link is for, and answers only where a person presses', async () => {
  const [agent, receiver] = [await cautious(), await openReceiver()];
  await putForApprovals(agent, `${receiver.url}/in`);
  const call = await callToApprove(agent, 'On the page');
  const [message] = await receiver.untilMessages(1);
  const page = await openEmptyPage();
  await page.goto(String(message?.body.approval_link));
  await page.getByText('Approve this call?').waitFor();
  expect(page.url()).toBe(`${service.url}/approve`);
  expect(await page.locator('#facts').textContent()).toContain(call.request.request_hash);
  for (const shown of ['0.002 USDC', 'user: On the page', 'Waiting for an answer'])
    expect(await page.locator('#facts').textContent()).toContain(shown);
  expect((await newest(agent)).status).toBe('open');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Approved: this call is allowed once.').waitFor();
  expect(await newest(agent)).toMatchObject({ status: 'approved', decided_by: 'link' });
  expect((await call.send(ask('On the page'))).status).toBe(200);
  await page.goto(`${service.url}/approve#${call.request.approval_id}.guessed`);
  await page.getByText('This link is not valid.').waitFor();
});

it('shows it where slashes stand at the end of the address', async () => {
  const [agent, receiver] = [await cautious(), await openReceiver()];
  await putForApprovals(agent, `${receiver.url}/in`);
  await callToApprove(agent, 'By a slash');
  const [message] = await receiver.untilMessages(1);
  const page = await openEmptyPage();
  await page.goto(String(message?.body.approval_link).replace('/approve#', '/approve/#'));
  await page.getByText('Approve this call?').waitFor();
});
