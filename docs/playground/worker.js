// A service worker: it has the web UI's requests answered by the playground's page, where the server is.

const OF_SERVER = /^\/(ui|v1|proconsul)\//;
const pathOf = ({ url }) => new URL(url).pathname;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  if (OF_SERVER.test(pathOf(event.request))) event.respondWith(answer(event.request));
});

async function answer(request) {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((one) => !OF_SERVER.test(pathOf(one)));
  if (!page) return new Response("The page with the server is closed: open the playground.", { status: 503 });
  const { port1: port, port2 } = new MessageChannel();
  const { method, headers, url } = request;
  const target = url.slice(new URL(url).origin.length);
  const body = new Uint8Array(await request.arrayBuffer());
  // The first message is the head of the response, the next ones are its body, and the last one is null.
  return new Promise((resolve) => {
    let stream;
    const content = new ReadableStream({
      start: (controller) => {
        stream = controller;
      },
      cancel: () => port.postMessage("the client has gone"),
    });
    port.onmessage = ({ data }) => {
      if (data?.headers) resolve(new Response([204, 304].includes(data.status) ? null : content, data));
      else if (data?.failure) resolve(Response.error());
      else if (data) stream.enqueue(data);
      else stream.close();
    };
    page.postMessage({ method, target, headers: Object.fromEntries(headers), body }, [port2]);
  });
}
