import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/** One case a line, separated by tabs: secret, id, timestamp, signature, svc, now, body in base64. Says what is right. */
public final class Check {
  public static void main(String[] none) throws Exception {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] field = line.split("\t", -1);
      Map<String, String> headers =
          Map.of(
              "webhook-id", field[1],
              "webhook-timestamp", field[2],
              "webhook-signature", field[3],
              "x-svc-signature", field[4]);
      byte[] body = Base64.getDecoder().decode(field[6]);
      boolean svc = Verify.svc(field[0], headers, body);
      System.out.println(svc + " " + Verify.standard(field[0], headers, body, Long.parseLong(field[5])));
    }
  }
}
