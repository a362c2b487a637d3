import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Widths of a phone, a tablet and a laptop in CSS pixels. */
const WIDTHS = [360, 768, 1_280];

interface Overflow {
  /** Number of CSS pixels by which the page can be scrolled sideways. */
  readonly px: number;
  /** The first elements that extend beyond the right edge, except inside boxes that scroll by themselves and in GraphiQL's editors. */
  readonly elements: readonly string[];
}

/** Script that runs in the page. */
const OVERFLOW = `(() => {
  const width = document.documentElement.clientWidth;
  const scrolls = it => it && (/^(auto|scroll)$/.test(getComputedStyle(it).overflowX) || scrolls(it.parentElement));
  const wide = [...document.querySelectorAll('body *:not(.monaco-editor *)')].filter(
    it => it.checkVisibility() && it.getBoundingClientRect().right > width + 0.5 && !scrolls(it.parentElement),
  );
  return { px: document.documentElement.scrollWidth - width, elements: wide.slice(0, 3).map(it => it.outerHTML.slice(0, 160)) };
})()` as unknown as () => Overflow;

/** Expects that no part of a page is wider than the screen. `name` is the page's name in failures and in names of screenshots. */
export async function expectToFit(page: Page, name: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const to = process.env.SVC_TEST_SCREENSHOTS;
    if (to) await page.screenshot({ path: join(to, `${name}-${width}.png`), fullPage: true });
    expect.soft(await page.evaluate(OVERFLOW), `${name} at ${width}`).toEqual({ px: 0, elements: [] });
  }
}
