import type { Page } from 'playwright-core';
import type { Service } from '../open-service.ts';
import { type InjectedWallet, injectWallets } from './inject-wallets.ts';

type NewAgent = Awaited<ReturnType<Service['newAgent']>>;
type AgentSession = Pick<NewAgent, 'agent_id' | 'session'>;

export const walletOf = ({ account }: Pick<NewAgent, 'account'>, name = 'Own'): InjectedWallet => ({ name, account });

/** Steps of a book's owner on the approvals page, and what the page shows. */
export function ownersPageOf(at: () => { readonly service: Pick<Service, 'url'>; readonly page: Page }) {
  const card = (nth: number) => at().page.locator('article').nth(nth);
  const show = async ({ agent_id, session }: AgentSession) => {
    const { page } = at();
    await page.getByLabel('Agent id').fill(String(agent_id));
    await page.getByLabel('Session of its book').fill(session);
    await page.getByRole('button', { name: 'Show requests' }).click();
  };
  return {
    show,
    /** @returns the texts that the wallets are asked to sign, as they come. */
    async open(book: AgentSession, wallets: readonly InjectedWallet[], path = '/approvals') {
      const { service, page } = at();
      const texts = await injectWallets(page, wallets);
      await page.goto(service.url + path);
      await show(book);
      return texts;
    },
    press: (name: string, nth = 0) => card(nth).getByRole('button', { name }).click(),
    untilStatusText: (text: string) => at().page.locator('article [role=status]').getByText(text).first().waitFor(),
    async factsOf(nth = 0): Promise<Record<string, string | undefined>> {
      const [names, values] = await Promise.all(['dt', 'dd'].map(tag => card(nth).locator(tag).allTextContents()));
      return Object.fromEntries((names ?? []).map((name, place) => [name, values?.[place]]));
    },
  };
}
