import { beforeAll, expect, it } from 'vitest';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { expectToFit } from '../../harness/doors/browser/page-fit.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';
import { examplesAt } from '../../harness/examples.ts';
import { ownPort } from '../../harness/own-port.ts';

let service: Service;
let page: Awaited<ReturnType<typeof openEmptyPage>>;
beforeAll(async () => {
  [service, page] = await Promise.all([sharedService(), openEmptyPage()]);
});

it('dashboard-apollo shows a row as it is bought, fits the screen, and reaches the service alone', async () => {
  const faults: string[] = [];
  page.on('pageerror', fault => void faults.push(String(fault)));
  page.on('console', message => void (message.type() === 'error' && faults.push(message.text())));
  const reached = new Set<string>();
  page.on('request', request => void reached.add(new URL(request.url()).origin));
  const { lines, press } = await examplesAt(() => service).startExample('dashboard-apollo', {
    PORT: String(await ownPort()),
  });
  await expect.poll(() => lines.length).toBe(3);
  const opened = lines[1]?.replace('open ', '') ?? '';
  await page.goto(opened);
  const textOf = (id: string) => page.locator(`#${id}`).textContent();
  await expect.poll(() => textOf('sums')).toBe('0.002000 USDC spent, no budget');
  press();
  await expect.poll(() => textOf('sums')).toBe('0.004000 USDC spent, no budget');
  // The row may arrive before the buying program has its response.
  await expect.poll(() => lines.at(-1)).toMatch(/^bought /);
  const bought = lines.at(-1)?.replace('bought ', '') ?? '';
  expect(await page.locator('#rows tr').nth(1).textContent()).toContain(bought);
  expect(await textOf('models')).toMatch(/(alpha|beta)-\d10\.002000/);
  await expectToFit(page, 'dashboard');
  expect([...reached].sort()).toEqual([new URL(opened).origin, new URL(service.url).origin].sort());
  expect(faults).toEqual([]);
});
