import { type Hubs, openHubs } from '../../subgraphs/receipt/inference/hubs/open.ts';

/** Hubs of a service that can clear what they remember of each hub's failures, as if the service had just been opened. */
export function renewableHubs() {
  let renew = () => {};
  const open: typeof openHubs = (settings, options) => {
    let hubs = openHubs(settings, options);
    renew = () => {
      void hubs.close();
      hubs = openHubs(settings, options);
    };
    return new Proxy({} as Hubs, {
      get(_, name) {
        const member: unknown = Reflect.get(hubs, name, hubs);
        return typeof member === 'function' ? member.bind(hubs) : member;
      },
    });
  };
  return { open, renew: () => renew() };
}
