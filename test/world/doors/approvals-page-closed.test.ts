import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { approvalDoorsOf } from '../../harness/doors/approvals.ts';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { ownersPageOf, walletOf } from '../../harness/doors/browser/owners-page.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';

/* What the approvals page stores of a book, and what happens after a book is closed. */

let service: Service;
let page: Page;
beforeAll(async () => {
  service = await sharedService();
});
beforeEach(async () => {
  page = await openEmptyPage();
});

const { newest, cautious, callToApprove } = approvalDoorsOf(() => service);
const { open, show, press, untilStatusText } = ownersPageOf(() => ({ service, page }));

describe('the session', () => {
  it('of another book shows nothing', async () => {
    const [agent, other] = [await cautious(), await service.newAgent()];
    await callToApprove(agent, 'Not theirs');
    await open({ agent_id: agent.agent_id, session: other.session }, []);
    await page.getByText('This session does not open the book of that agent.').waitFor();
    expect(await page.locator('article').count()).toBe(0);
  });

  it('stands in no address, no storage and no element, and goes to the list alone; closed, the book is forgotten', async () => {
    const agent = await cautious();
    await callToApprove(agent, 'Kept by nobody');
    const sent: { url: string; session: string | undefined }[] = [];
    page.on('request', request => {
      sent.push({ url: request.url(), session: request.headers()['x-svc-session'] });
    });
    await open(agent, [walletOf(agent)]);
    await press('Approve');
    await untilStatusText('Approved: this call is allowed once.');
    const at = `${service.url}/v1/agents/${agent.agent_id}/book/approvals`;
    const { approval_id } = await newest(agent);
    expect(sent.filter(({ url }) => !url.startsWith('data:'))).toEqual([
      { url: `${service.url}/approvals`, session: undefined },
      { url: at, session: agent.session },
      { url: `${service.url}/graphql`, session: undefined },
      { url: `${at}/${approval_id}`, session: undefined },
    ]);
    const kept = await page.evaluate(() => {
      const here = globalThis as unknown as Record<
        'localStorage' | 'sessionStorage' | 'history' | 'document',
        object
      > & {
        document: { cookie: string; documentElement: { outerHTML: string } };
      };
      const { localStorage, sessionStorage, history, document } = here;
      const { cookie, documentElement } = document;
      return JSON.stringify([localStorage, sessionStorage, history, cookie, documentElement.outerHTML]);
    });
    expect(kept).not.toContain(agent.session);
    expect(await page.getByLabel('Session of its book').inputValue()).toBe('');
    expect(page.url()).toBe(`${service.url}/approvals`);
    await page.getByRole('button', { name: 'Close the book' }).click();
    expect(await page.locator('article').count()).toBe(0);
    expect(await page.getByLabel('Session of its book').getAttribute('type')).toBe('password');
  });
});

describe('a book that is closed', () => {
  it.each(['**/book/approvals', '**/graphql'])('while %s is asked does not come back', async path => {
    const agent = await cautious();
    await callToApprove(agent, 'Left meanwhile');
    const held = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await page.route(path, async route => {
      const response = await route.fetch();
      held.resolve();
      await answered.promise;
      await route.fulfill({ response });
    });
    await open(agent, []);
    await held.promise;
    await page.evaluate(() => (globalThis as unknown as EventTarget).dispatchEvent(new Event('pagehide')));
    const finished = page.waitForEvent('requestfinished');
    answered.resolve();
    await finished;
    await page.unroute(path);
    // Opens and closes the same book again, so that a late effect of the first answer would be seen by the check.
    await show(agent);
    await page.getByRole('button', { name: 'Close the book' }).click();
    await page.getByLabel('Agent id').waitFor();
    expect(await page.locator('article').count()).toBe(0);
  });

  it('while its wallet is silent ends the wait, and nothing comes of what that signs later', async () => {
    const agent = await cautious();
    await callToApprove(agent, 'Silent');
    const heard = Promise.withResolvers<void>();
    const texts = await open(agent, [{ ...walletOf(agent), until: heard.promise }]);
    await press('Deny');
    await untilStatusText('asks you to sign');
    await page.getByRole('button', { name: 'Close the book' }).click();
    await show(agent);
    await page.locator('article').waitFor();
    heard.resolve();
    await press('Approve');
    await untilStatusText('Approved: this call is allowed once.');
    expect(texts).toHaveLength(2);
    expect((await newest(agent)).status).toBe('approved');
  });
});
