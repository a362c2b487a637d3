import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { expectToFit } from '../../harness/doors/browser/page-fit.ts';
import { CHAT, type Service, sharedService } from '../../harness/doors/open-service.ts';

/* The page of a paid URL, opened in a browser. */

let service: Service;
let page: Page;
beforeAll(async () => {
  [service, page] = await Promise.all([sharedService(), openEmptyPage()]);
});

const AUDIO = '/v1/audio/transcriptions';
const REGISTRATION = '/v1/agents/register';

it.each([CHAT, AUDIO, REGISTRATION])(
  '%s shows a page with status 402, which loads nothing else and overflows at no width',
  async path => {
    const asked: string[] = [];
    const faults: string[] = [];
    page.on('request', request => void asked.push(request.url()));
    page.on('console', message => void (message.type() === 'error' && faults.push(message.text())));
    const answer = await page.goto(service.url + path);
    expect(answer?.status()).toBe(402);
    expect(await page.locator('h1').textContent()).toBe('Payment required');
    await expectToFit(page, `offer${path.replaceAll('/', '-')}`);
    expect(asked.filter(url => !url.startsWith('data:'))).toEqual([service.url + path]);
    // Chromium reports the page's own status 402 as an error.
    expect(faults.filter(it => !it.includes('402'))).toEqual([]);
    page.removeAllListeners();
  },
);
